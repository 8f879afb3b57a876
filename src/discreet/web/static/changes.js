// Changes of another tab or program: a notice below the header, with actions.

import { acceptPart, checkForChanges } from "./api.js";
import { button } from "./components/parts.js";
import { clear, h } from "./dom.js";

const QUIET = 3000; // milliseconds between two checks
const WORDS = {
  table: "the table, a role or a hierarchy",
  request: "the request",
  choice: "the chosen node",
  saved: "a saved answer",
};
const MINE = ["request", "choice"]; // parts that can be set to the state of this page

/**
 * Show in `place` changes by others of the parts that the screen shows, `partsOf()`. `onChange(parts)` gets the changed
 * parts, possibly none; `onShow()` draws the screen again, `onKeep()` saves the screen's state, null if it cannot.
 * Returns a function that clears the notice.
 */
export function watchChanges(place, { partsOf, onChange, onShow, onKeep }) {
  let looked = 0;
  let shown = "";

  function tell(changed) {
    const parts = changed.filter((part) => partsOf().includes(part));
    if (parts.join() === shown) return;
    shown = parts.join();
    place.hidden = parts.length === 0;
    const keep = onKeep();
    clear(
      place,
      parts.length > 0 && [
        h("span", {}, `Changed in another tab or program: ${parts.map((part) => WORDS[part]).join(" and ")}.`),
        button("Show it", { small: true, onClick: onShow }),
        keep && parts.every((part) => MINE.includes(part)) && button("Keep mine", { small: true, onClick: mine }),
      ],
    );
    onChange(parts);

    async function mine() {
      for (const part of parts) await acceptPart(part);
      tell([]);
      await keep();
    }
  }

  function look() {
    const now = performance.now();
    if (document.hidden || now - looked < QUIET) return;
    looked = now;
    checkForChanges();
  }

  window.addEventListener("discreet:changed", ({ detail }) => tell(detail));
  window.addEventListener("discreet:line", ({ detail }) => detail === "open" && shown === "" && look());
  window.addEventListener("focus", look);
  document.addEventListener("visibilitychange", look);
  for (const kind of ["pointerdown", "keydown"])
    document.addEventListener(kind, look, { capture: true, passive: true });
  return () => tell([]);
}
