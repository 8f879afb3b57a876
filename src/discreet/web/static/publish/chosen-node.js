// The node that was chosen in Negotiate, as a release would publish it.

import { h } from "../dom.js";
import { number, share } from "../format.js";
import { spoken } from "../negotiate/words.js";
import { badge, notice, sentence } from "../components/parts.js";

/** The node and what it was asked for, or the way to choose one. */
export function chosenNode(choice) {
  if (!choice) {
    return notice(
      [
        "No node is chosen. ",
        h("a", { href: "#/negotiate" }, "Negotiate"),
        " until you like an answer, and choose it; or take another model, which needs no node.",
      ],
      "warning",
    );
  }
  if (choice.stale) {
    return notice(
      [
        "The table or its hierarchies changed since the node was chosen: its figures hold no more. ",
        h("a", { href: "#/negotiate" }, "Ask again"),
        ", and choose a node.",
      ],
      "warning",
    );
  }
  return h(
    "div",
    { class: "stack tight chosen-node" },
    h("h2", {}, "The node chosen in Negotiate"),
    sentence(
      `It meets ${requirementWords(choice.requirement) || "no requirement"}. ${number(choice.suppressed)} of ` +
        `${number(choice.rows)} rows are suppressed, ${share(choice.suppressed, choice.rows)}.`,
    ),
    h(
      "ul",
      { class: "levels" },
      Object.entries(choice.levels).map(([each, level]) =>
        h("li", {}, h("span", {}, spoken(each)), badge(`level ${level}`, level === 0 ? "plain" : "accent")),
      ),
    ),
    h("p", { class: "small" }, h("a", { href: "#/negotiate" }, "Choose another")),
  );
}

/** What a publishing asks where the chosen node is published. */
export function askedOf(choice) {
  const { k, l, criteria } = choice.requirement;
  return { levels: choice.levels, k, l, criteria: criteria ?? {}, max_suppressed: choice.max_suppressed };
}

function requirementWords({ k, l, criteria }) {
  return [
    k && `k = ${k}`,
    Number.isInteger(l) && `l = ${l}`,
    ...Object.entries(criteria ?? {}).map(([name, value]) => `${name} ${valueWords(value)}`),
  ]
    .filter(Boolean)
    .join(", ");
}

/** A criterion's value, its values by attribute, or tables of them with fixed parts. */
function valueWords(value) {
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) return value.map(tableWords).join(", ");
  return Object.entries(value)
    .map(([name, part]) => `${name} ${number(part)}`)
    .join(", ");
}

function tableWords({ value, attribute, ...parts }) {
  const told = Object.entries(parts).map(([name, part]) => `${name} ${part}`);
  return [attribute, number(value), ...told].filter(Boolean).join(" ");
}
