// The roles of columns.

import { role } from "../components/parts.js";
import { h } from "../dom.js";

/** The meaning of each role. */
const MEANING = {
  identifier: "identifies a person: left out, or published as a pseudonym",
  "quasi-identifier": "identifies together with other columns: generalized",
  sensitive: "the value to protect: published, protected by l",
  insensitive: "published unchanged",
};

/** The options of a select of roles; the empty one is for columns that the spec does not list. */
export const CHOICES = [...Object.keys(MEANING).map((name) => [name, name]), ["", "not listed"]];

/** A collapsed legend of the roles. */
export function roleLegend() {
  return h(
    "details",
    { class: "card" },
    h("summary", {}, "Meaning of the roles"),
    h(
      "dl",
      { class: "stack tight" },
      Object.entries(MEANING).map(([name, words]) =>
        h("div", {}, h("dt", {}, role(name)), h("dd", { class: "small" }, words)),
      ),
    ),
  );
}
