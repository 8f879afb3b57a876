// The requests of a negotiation in their order, and the way back and forth between them.

import { button } from "../components/parts.js";

/** `requests` of earlier visits, the latest last; `onTravel(by)` where a button is pressed. */
export class RequestHistory {
  constructor(requests, onTravel) {
    this.past = requests;
    this.at = requests.length - 1;
    this.undo = button("Undo", { small: true, icon: "undo", onClick: () => onTravel(-1) });
    this.redo = button("Redo", { small: true, icon: "redo", onClick: () => onTravel(1) });
  }

  /** The request at this place of the history. */
  get current() {
    return this.past[this.at];
  }

  isCurrent(request) {
    return JSON.stringify(request) === JSON.stringify(this.current);
  }

  /** Go on from here with a request; those that were taken back are gone. */
  add(request) {
    this.past = [...this.past.slice(0, this.at + 1), request];
    this.at = this.past.length - 1;
    this.show();
  }

  /** Go back or forth; the request there, null where there is none. */
  travel(by) {
    const to = this.at + by;
    if (to < 0 || to >= this.past.length) return null;
    this.at = to;
    this.show();
    return this.current;
  }

  show() {
    this.undo.disabled = this.at <= 0;
    this.redo.disabled = this.at >= this.past.length - 1;
  }
}

/** The way that the keys of an event ask for, -1 or 1; 0 where they ask for none, or are typed into a field. */
export function stepOfKeys(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return 0;
  const key = event.key.toLowerCase();
  const typing = event.target.matches("input[type=number], input[type=text], textarea");
  if (typing || (key !== "z" && key !== "y")) return 0;
  return key === "y" || event.shiftKey ? 1 : -1;
}
