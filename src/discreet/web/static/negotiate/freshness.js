// State of the visible answer: until it is that of the last move, the screen says so and publishes nothing.

import { lineState } from "../api.js";

const PATIENCE = 200; // milliseconds after which the visible answer counts as outdated

const MOVED = "This is the answer before your last move";
const GONE = "The server does not answer. This is its last answer";
const SIGNED_OUT = "Signed out. This is the last answer";
const ELSEWHERE = "Changed in another tab: this answer may be out of date";

/** `onChange(words)` when the visible answer becomes outdated, with the reason; null when it is current again. */
export class Freshness {
  constructor({ signal, onChange }) {
    this.onChange = onChange;
    this.isAnswered = false; // the last move has its answer
    this.isLate = false; // an answer takes long, or was refused
    this.isChanged = false; // the data of the answer changed elsewhere
    this.isOpen = true; // the socket of moves
    this.reason = null;
    window.addEventListener("discreet:line", () => this.tell(), { signal });
    signal.addEventListener("abort", () => clearTimeout(this.timer), { once: true });
  }

  /** True if the visible answer is that of the last move. */
  get isCurrent() {
    return this.isAnswered && this.why() === null;
  }

  why() {
    if (this.isChanged) return ELSEWHERE;
    const line = lineState();
    if (!this.isAnswered && line === "signed-out") return `Signed out. ${MOVED}`;
    if (this.isLate || (!this.isAnswered && line === "gone")) return MOVED;
    if (line === "signed-out") return SIGNED_OUT;
    return line === "gone" || !this.isOpen ? GONE : null;
  }

  /** Record a move. */
  requested() {
    this.isAnswered = false;
    this.wait();
  }

  /** Record a shown answer; `last` is true if no later move waits. */
  answered(last) {
    clearTimeout(this.timer);
    this.timer = 0;
    this.isAnswered = last;
    this.isLate = false;
    this.tell();
    if (!last) this.wait();
  }

  /** Record that the last move was refused: the previous answer remains visible. */
  refused() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.isAnswered = false;
    this.isLate = true;
    this.tell();
  }

  changed(is) {
    this.isChanged = is;
    this.tell();
  }

  /** Set the state of the socket of moves. */
  opened(is) {
    this.isOpen = is;
    this.tell();
  }

  /** Report only states that last longer than a moment. */
  wait() {
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.isLate = true;
      this.tell();
    }, PATIENCE);
  }

  tell() {
    const words = this.why();
    if (words === this.reason) return;
    this.reason = words;
    this.onChange(words);
  }
}
