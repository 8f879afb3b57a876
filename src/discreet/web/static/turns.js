// Order of queries, and the one queue of writes of all screens.

/**
 * Select the last of several queries: call `const turn = latest()`, `const isLast = turn()` before a query, and
 * `isLast()` after its answer.
 */
export function latest() {
  let last = 0;
  return () => {
    last += 1;
    const mine = last;
    return () => mine === last;
  };
}

/** A queue of tasks: each begins once the earlier ones have succeeded or failed. */
export class Lane {
  constructor() {
    this.before = Promise.resolve();
    this.waiting = 0;
  }

  add(task) {
    this.waiting += 1;
    const result = this.before.then(task);
    const end = () => {
      this.waiting -= 1;
    };
    this.before = result.then(end, end);
    return result;
  }

  /** A promise that resolves when all current tasks are done. */
  get done() {
    return this.before;
  }
}

const KEY = "discreet.tab";

/**
 * The writer: the tab, which a reload keeps, and the page loaded in it. Each write has a number that ascends within the
 * tab, across reloads, so that the server refuses a delayed one.
 */
class Writer {
  constructor() {
    this.page = name();
    try {
      [this.tab, this.number] = JSON.parse(sessionStorage.getItem(KEY)) ?? [name(), 0];
    } catch {
      [this.tab, this.number] = [name(), 0];
    }
    this.next(); // writes of the previous page are late from now on
  }

  next() {
    this.number += 1;
    try {
      sessionStorage.setItem(KEY, JSON.stringify([this.tab, this.number]));
    } catch {
      // Without storage the numbers last as long as the page.
    }
    return this.number;
  }

  /** Rename the tab: a copy of it keeps the old name. */
  rename() {
    this.tab = name();
    return this.next();
  }

  headers(number = this.number) {
    return { "discreet-tab": this.tab, "discreet-page": this.page, "discreet-number": String(number) };
  }
}

function name() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const writer = new Writer();
