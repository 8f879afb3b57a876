// The steps after a table was loaded, for new users.

import { h } from "../dom.js";

const STEPS = [
  ["Columns", "Each column gets a role; you see which columns identify people.", "2"],
  ["Hierarchies", "How values become coarser: 37, 35-39, 30-39, *.", "3"],
  ["Negotiate", "Set k, l and other criteria, see every possible release and the necessary relaxations.", "4"],
  ["Analyst and Attacker", "The release as analysts and attackers see it.", "5–6"],
  ["Publish", "The release is written, audited, and documented in a report.", "7"],
];

/** The steps of the workbench in a few words. */
export function nextSteps() {
  return h(
    "section",
    { class: "card next-card" },
    h("h2", {}, "Next steps"),
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
