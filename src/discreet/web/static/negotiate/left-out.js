// Suppressed rows and their reasons: only for the publisher, after a click that says so.

import { errorText, query } from "../api.js";
import { openDialog } from "../components/dialog.js";
import { button } from "../components/parts.js";
import { clear, h } from "../dom.js";
import { number } from "../format.js";
import { spoken } from "./words.js";

const SHOWN = 8;

/** Open the view for the node of an answer. */
export async function showLeftOut({ request, node }) {
  const place = h("div", { class: "left-out" });
  const many = number(node.suppressed);
  const show = button("Show suppressed rows", {
    tone: "primary",
    onClick: async () => {
      try {
        const found = await query("/api/negotiate/left-out", { request, levels: node.levels });
        clear(place, view(found));
        place.querySelector("h3").focus();
      } catch (error) {
        clear(place, h("p", { class: "form-error" }, errorText(error)));
      }
    },
  });
  clear(
    place,
    h(
      "p",
      {},
      `Counts of the ${many} rows by value, rare ones too. Only you see them: no release, report or log contains them.`,
    ),
    show,
  );
  await openDialog({
    title: `The ${many} suppressed rows`,
    kind: "left-out-dialog",
    body: place,
    actions: [{ label: "Close", value: null }],
  });
}

function view({ sentence, suppressed, attributes }) {
  const worst = [...attributes].sort((a, b) => b.costs - a.costs);
  return [
    h("h3", { class: "sentence", tabindex: "-1" }, spoken(sentence)),
    h(
      "div",
      { class: "left-out-attributes" },
      worst.map((attribute) => table(attribute, suppressed)),
    ),
  ];
}

function table({ name, costs, values }, suppressed) {
  const most = Math.max(1, ...values.map((value) => value.left_out));
  const cause = costs > 0 ? `${number(costs)} more published without it` : "suppresses no row by itself";
  return h(
    "table",
    {},
    h("caption", {}, h("b", {}, spoken(name)), ` ${cause}`),
    h(
      "thead",
      { class: "visually-hidden" },
      h(
        "tr",
        {},
        ["value", "suppressed", "of rows"].map((each) => h("th", { scope: "col" }, each)),
      ),
    ),
    h(
      "tbody",
      {},
      values
        .slice(0, SHOWN)
        .map(({ value, rows, left_out: out }) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, value ?? "NULL"),
            h(
              "td",
              { class: "bar-cell" },
              h("span", { style: { width: `${(100 * out) / most}%` } }),
              h("b", {}, number(out)),
            ),
            h("td", { class: "number" }, `of ${number(rows)}`),
          ),
        ),
      values.length > SHOWN &&
        h(
          "tr",
          {},
          h(
            "td",
            { colspan: "3", class: "muted" },
            `${number(values.length - SHOWN)} more values of the ${number(suppressed)}`,
          ),
        ),
    ),
  );
}
