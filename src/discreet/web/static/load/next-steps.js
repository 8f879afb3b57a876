// The steps after a table was loaded, for new users.

import { h } from "../dom.js";

const STEPS = [
  ["Columns", "Each column gets a role; you see which columns single people out.", "2"],
  ["Hierarchies", "How values become coarser: 37, 35-39, 30-39, *.", "3"],
  ["Negotiate", "Ask for k, l and other criteria, see every possible release, and what would have to give way.", "4"],
  ["Analyst and Attacker", "What the release still tells those who analyse it, and those who attack it.", "5–6"],
  ["Publish", "The release is written, counted again by an audit, and comes with its evidence.", "7"],
];

/** The steps of the workbench in a few words. */
export function nextSteps() {
  return h(
    "section",
    { class: "card next-card" },
    h("h2", {}, "What comes next"),
    h(
      "ol",
      { class: "next-steps" },
      STEPS.map(([title, words, places]) =>
        h(
          "li",
          {},
          h("span", { class: "place number", aria: { hidden: true } }, places),
          h("span", {}, h("b", {}, title), h("br"), h("span", { class: "muted small" }, words)),
        ),
      ),
    ),
  );
}
