// The node chosen in Negotiate, as a release would publish it.

import { h } from "../dom.js";
import { number } from "../format.js";
import { requirementWords, homogeneousWords, spoken, suppressedWords } from "../negotiate/words.js";
import { badge, notice, sentence } from "../components/parts.js";

/**
 * Show the node and its request, or a link to choose one; `names` are those of sensitive columns, `kinds` those of
 * criteria.
 */
export function chosenNode(choice, names, kinds) {
  const sensitive = names.map((name) => ({ name }));
  if (!choice) {
    return notice(
      [
        "No node is chosen. ",
        h("a", { href: "#/negotiate" }, "Negotiate"),
        " and choose an answer, or use another model, which needs no node.",
      ],
      "warning",
    );
  }
  if (choice.stale) {
    return notice(
      [
        "The table or its hierarchies changed since the node was chosen: its figures are out of date. ",
        h("a", { href: "#/negotiate" }, "Negotiate again"),
        " and choose a node.",
      ],
      "warning",
    );
  }
  return h(
    "div",
    { class: "stack tight chosen-node" },
    h("h2", {}, "The node chosen in Negotiate"),
    sentence(
      `${requirementWords(choice.requirement, others(choice.requirement, kinds), { unit: choice.unit, sensitive })} ` +
        [suppressedWords(choice.suppressed, choice.rows), homogeneousWords(choice.homogeneous)]
          .filter(Boolean)
          .join(" "),
    ),
    h(
      "ul",
      { class: "levels" },
      Object.entries(choice.levels).map(([each, level]) =>
        h(
          "li",
          {},
          h("span", {}, spoken(each)),
          badge(levelOf(level, choice.heights[each]), level === 0 ? "plain" : "accent"),
        ),
      ),
    ),
    h("p", { class: "small" }, h("a", { href: "#/negotiate" }, "Choose another")),
  );
}

/** Return the request of a publication of the chosen node. */
export function requestOfChoice(choice) {
  const { k, l, criteria } = choice.requirement;
  return { levels: choice.levels, k, l, criteria: criteria ?? {}, max_suppressed: choice.max_suppressed };
}

function levelOf(level, height) {
  if (level === 0) return "unchanged";
  return level === height ? "not shown" : `level ${level}${height === undefined ? "" : ` of ${height}`}`;
}

/** Describe the criteria other than k and l. */
function others({ criteria }, kinds) {
  return Object.entries(criteria ?? {})
    .map(([name, value]) => `${kinds.find((each) => each.name === name)?.title ?? name} ${valueWords(value)}`)
    .join(", ");
}

/** Describe a criterion's value, its values by attribute, or tables of them with fixed parts. */
function valueWords(value) {
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) return value.map(tableWords).join(", ");
  return Object.entries(value)
    .map(([name, part]) => `${name} ${number(part)}`)
    .join(", ");
}

function tableWords({ value, attribute, ...parts }) {
  const fixedParts = Object.entries(parts).map(([name, part]) => `${name} ${part}`);
  return [attribute, number(value), ...fixedParts].filter(Boolean).join(" ");
}
