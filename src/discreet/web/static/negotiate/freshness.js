// Whether the answer in sight is that of the last move: while it is not, the screen says so and publishes nothing.

import { lineState } from "../api.js";

const PATIENCE = 200; // milliseconds that an answer may take before the one in sight is called outdated

const MOVED = "This is the answer before your last move";
const GONE = "The server does not answer. This is its last answer";
const SIGNED_OUT = "Signed out. This is the last answer";
const ELSEWHERE = "Changed in another tab: this answer may be out of date";

/** `onChange(words)` when the answer in sight becomes outdated, and why; with null when it is that of the last move. */
export class Freshness {
  constructor({ signal, onChange }) {
    this.onChange = onChange;
    this.isAnswered = false; // whether the last move has its answer
    this.isLate = false; // whether an answer takes long, or was refused
    this.isChanged = false; // whether what the answer rests on changed elsewhere
    this.isOpen = true; // the socket of moves
    this.said = null;
    window.addEventListener("discreet:line", () => this.tell(), { signal });
    signal.addEventListener("abort", () => clearTimeout(this.timer), { once: true });
  }

  /** Whether the answer in sight is that of the last move. */
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

  /** A move is made. */
  asked() {
    this.isAnswered = false;
    this.wait();
  }

  /** An answer is shown; `last`: no later move waits. */
  answered(last) {
    clearTimeout(this.timer);
    this.timer = 0;
    this.isAnswered = last;
    this.isLate = false;
    this.tell();
    if (!last) this.wait();
  }

  /** The last move was refused: what is in sight stays the answer before it. */
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

  /** Whether the socket of moves is open. */
  opened(is) {
    this.isOpen = is;
    this.tell();
  }

  /** Say nothing of what lasts a moment only. */
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
    if (words === this.said) return;
    this.said = words;
    this.onChange(words);
  }
}
