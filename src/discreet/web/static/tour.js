// The tour: from the sample to a printed report, one sentence at a time that names the next control.

import { button } from "./components/parts.js";
import { announce } from "./components/status.js";
import { draftOf, keepDraft } from "./drafts.js";
import { clear, h } from "./dom.js";

const KEPT = "tour";
const LOOK = 300; // milliseconds between checks of the screen
const PATIENCE = 3000; // milliseconds that a screen may take to continue

/**
 * Each step: its screen, the labels of its control (the first visible one), and the reason. A step is done when the
 * control was pressed, or when the screen of the next step is shown.
 */
const STEPS = [
  { screen: "load", press: ["Open the sample"], why: "A generated table: the people are invented." },
  {
    screen: "columns",
    press: ["Next: Hierarchies"],
    why: "Each column has a role: age or place could identify somebody.",
  },
  { screen: "hierarchies", press: ["Next: Negotiate"], why: "How values become coarser, level by level." },
  {
    screen: "negotiate",
    press: ["Publish this answer", "Choose this node"],
    why: "The answer generalizes as little as possible without unique rows. You may move a slider first.",
  },
  { screen: "publish", press: ["Publish"], why: "The file is written, read again, and counted by its own audit." },
  { screen: "publish", press: ["Write the report…"], why: "The evidence as one page that needs no network." },
  { screen: "publish", press: ["Write the report"], why: "Empty fields stay blank in it." },
  { screen: "publish", press: ["Read the report"], why: "It opens in another page. Print it there with Ctrl+P." },
];
const NAMES = {
  load: "Load",
  columns: "Columns",
  hierarchies: "Hierarchies",
  negotiate: "Negotiate",
  publish: "Publish",
};
let looking = 0;
let strip = null;
let at = null;
let since = 0; // time of the step's start, or of the last pending work

/** Begin the tour at its first step. */
export function beginTour() {
  go(0);
  resumeTour();
}

/** Continue a tour that was begun in this tab. */
export function resumeTour() {
  at = draftOf(KEPT);
  if (at === null || strip !== null) return;
  strip = h("aside", { class: "tour", aria: { label: "Tour" } });
  document.body.append(strip);
  document.addEventListener("click", pressed, true);
  looking = setInterval(look, LOOK);
  look();
}

function endTour() {
  clearInterval(looking);
  document.removeEventListener("click", pressed, true);
  mark(null);
  strip?.remove();
  strip = null;
  keepDraft(KEPT, null);
  document.body.classList.remove("touring");
}

function go(step) {
  at = step;
  since = Date.now();
  keepDraft(KEPT, step);
}

/** Return the control to press, or the link to its screen; null if it is not visible. */
function target() {
  const { screen, press } = STEPS[at];
  const shown = document.body.dataset.ready;
  const all = [...document.querySelectorAll("main button, main a, dialog[open] button")];
  if (shown === screen)
    for (const words of press) {
      const found = all.find((each) => each.textContent.trim() === words && each.offsetParent !== null);
      if (found) return { element: found, words };
    }
  if (shown !== screen && Date.now() - since > PATIENCE) {
    const step = document.querySelector(`#steps a[href="#/${screen}"]`);
    return { element: step, words: NAMES[screen], elsewhere: true };
  }
  return null;
}

function pressed({ target: hit }) {
  const found = target();
  if (found === null || found.elsewhere || !found.element.contains(hit)) return;
  if (at === STEPS.length - 1) {
    keepDraft(KEPT, null);
    showStep("done", [h("b", {}, "That was the tour."), " Print the report in its page with Ctrl+P."], "End");
    clearInterval(looking);
    mark(null);
  } else go(at + 1);
}

function look() {
  const busy = document.querySelector("main .progress, main[aria-busy]") !== null;
  if (busy) since = Date.now();
  const next = STEPS[at + 1];
  const shown = document.body.dataset.ready;
  if (next && next.screen !== STEPS[at].screen && shown === next.screen) go(at + 1);
  const found = target();
  if (found !== null && !found.elsewhere) since = Date.now();
  else if (found === null && at > 0 && Date.now() - since > 3 * PATIENCE) go(at - 1); // left before it was done
  mark(found?.element ?? null);
  const { why } = STEPS[at];
  const key = `${at} ${found?.words ?? ""}`;
  if (strip.dataset.of === key) return;
  const words =
    found === null
      ? [h("b", {}, "One moment."), " The tour continues automatically."]
      : ["Press ", h("b", { class: "tour-press" }, found.words), found.elsewhere ? ", in the line above." : `. ${why}`];
  showStep(key, words, "Stop the tour");
}

function showStep(key, words, end) {
  strip.dataset.of = key;
  clear(
    strip,
    h("span", { class: "tour-at" }, `${at + 1} of ${STEPS.length}`),
    h("p", { class: "grow", role: "status" }, words),
    button(end, { small: true, tone: "quiet", onClick: endTour }),
  );
  document.body.classList.add("touring");
  document.body.style.setProperty("--tour-height", `${strip.offsetHeight}px`);
  announce(strip.querySelector("p").textContent);
}

function mark(element) {
  for (const each of document.querySelectorAll(".tour-target"))
    if (each !== element) each.classList.remove("tour-target");
  element?.classList.add("tour-target");
}
