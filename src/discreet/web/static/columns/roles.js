// The roles that a column may have.

import { role } from "../components/parts.js";
import { h } from "../dom.js";

/** What each role means. */
const MEANING = {
  identifier: "tells who it is: left out, or published in another form",
  "quasi-identifier": "identifies together with others: generalized",
  sensitive: "what an attacker wants to learn: published, protected by l",
  insensitive: "published as it is",
};

/** Roles as a select offers them; the empty one is of columns that the spec does not list. */
export const CHOICES = [...Object.keys(MEANING).map((name) => [name, name]), ["", "not listed"]];

/** What the roles mean, to be opened. */
export function roleLegend() {
  return h(
    "details",
    { class: "card" },
    h("summary", {}, "What the roles mean"),
    h(
      "dl",
      { class: "stack tight" },
      Object.entries(MEANING).map(([name, words]) =>
        h("div", {}, h("dt", {}, role(name)), h("dd", { class: "small" }, words)),
      ),
    ),
  );
}
