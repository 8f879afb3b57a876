// A few real rows before and after the recoding.

import { badge, wide } from "../components/parts.js";
import { h } from "../dom.js";
import { number } from "../format.js";

const ROWS = 6;

/** Draw rows as the shown node would recode them; `ask(path, body)` queries the server. */
export function rowPreview({ ask }) {
  return async ({ request, node }) => {
    const { rows, attributes } = await ask("rows", { request, levels: node.levels, number: ROWS });
    return [
      h("p", { class: "small muted" }, "A few real rows, which only you see: no log, report or release contains them."),
      wide(
        "Rows before and after",
        h(
          "table",
          { class: "table dense preview-table" },
          h("caption", { class: "visually-hidden" }, "Rows before and after"),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("td", {}),
              attributes.map((name) => h("th", { scope: "col" }, name)),
              h("th", { scope: "col", class: "number" }, "group size"),
              h("th", { scope: "col" }, "in the release"),
            ),
          ),
          h("tbody", {}, rows.map(pair)),
        ),
        { kind: "" },
      ),
    ];
  };
}

function pair({ before, after, size, suppressed }) {
  const changed = (value, i) => (suppressed || value === before[i] ? "" : "changed");
  return [
    h(
      "tr",
      { class: "before" },
      h("th", { scope: "row" }, "before"),
      before.map((value) => h("td", {}, cell(value))),
      h("td", {}),
      h("td", {}),
    ),
    h(
      "tr",
      { class: suppressed ? "after gone" : "after" },
      h("th", { scope: "row" }, "after"),
      after.map((value, i) => h("td", { class: changed(value, i) }, suppressed ? "✕" : cell(value))),
      h("td", { class: "number" }, number(size)),
      h("td", {}, suppressed ? badge("suppressed", "bad") : badge("published", "good")),
    ),
  ];
}

function cell(value) {
  return value === null ? h("i", { class: "muted" }, "NULL") : value;
}
