// Order among questions, and the one queue of writes of all screens.

/**
 * Of a burst of questions only the last one's answer is wanted: `const turn = latest()`, `const isLast = turn()` before
 * a question, and `isLast()` once it is answered.
 */
export function latest() {
  let last = 0;
  return () => {
    last += 1;
    const mine = last;
    return () => mine === last;
  };
}

/** Tasks one after the other: each begins once those given before it are done, well or not. */
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

  /** When the tasks that are given until now are done. */
  get done() {
    return this.before;
  }
}

const KEY = "discreet.tab";

/**
 * Who writes: the tab, which a reload keeps, and the page that is loaded in it. Each write has a number that ascends in
 * the tab, across reloads, so that the server refuses one that was delayed on its way.
 */
class Writer {
  constructor() {
    this.page = name();
    try {
      [this.tab, this.number] = JSON.parse(sessionStorage.getItem(KEY)) ?? [name(), 0];
    } catch {
      [this.tab, this.number] = [name(), 0];
    }
    this.next(); // what the page before sent is late from now on
  }

  next() {
    this.number += 1;
    try {
      sessionStorage.setItem(KEY, JSON.stringify([this.tab, this.number]));
    } catch {
      // Then the numbers hold for this page.
    }
    return this.number;
  }

  /** Another name: a copy of the tab goes on under the old one. */
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
