// Uniqueness of rows in a set of columns, and the sets with most unique rows.

import { errorText, query } from "../api.js";
import { segmented } from "../components/field.js";
import { facts, meter, notice, panel } from "../components/parts.js";
import { announce } from "../components/status.js";
import { clear, h, visuallyHidden } from "../dom.js";
import { count, number, share, significant } from "../format.js";
import { bars } from "../plots/bars.js";
import { latest } from "../turns.js";
import { uniquenessTone } from "./roles-table.js";

const PAUSE = 150; // milliseconds; only the last of several quick ticks starts a search for the worst sets

/** The panel of one set; `.measure(columns)` shows only the latest result. */
export function uniquenessPanel({ signal }) {
  const place = h("div", { class: "stack", aria: { live: "off" } });
  const element = panel({ title: "Uniqueness of a set", note: "Tick columns in the table" }, place);
  const turn = latest();
  element.measure = async (columns) => {
    const isLast = turn();
    if (columns.length === 0) {
      clear(place, h("p", { class: "muted" }, "No column is ticked: all rows are identical."));
      return;
    }
    try {
      const found = await query("/api/columns/uniqueness", { columns }, { signal });
      if (!isLast()) return;
      clear(place, uniqueness(columns, found));
      announce(`${count(columns.length, "column")}: ${share(found.unique_rows, found.rows)} of the rows are unique`);
    } catch (error) {
      if (error.name !== "AbortError" && isLast()) clear(place, notice(errorText(error), "bad"));
    }
  };
  return element;
}

function uniqueness(columns, found) {
  return [
    h("p", { class: "small muted set-names" }, columns.join(", ")),
    facts([
      {
        label: "unique rows",
        value: share(found.unique_rows, found.rows),
        tone: uniquenessTone(found.unique_rows / Math.max(1, found.rows)),
      },
      { label: "combinations", value: number(found.distinct) },
      { label: "rows per group, mean", value: significant(found.mean, 3) },
    ]),
    bars({
      caption: "Rows in small groups of the ticked set",
      nameTitle: "group size",
      width: 300,
      format: (value) => share(value, found.rows),
      rows: found.below.map((each) => ({
        label: each.size === 2 ? "unique" : `below ${each.size}`,
        value: each.rows,
        tone: each.size === 2 ? "bad" : "",
      })),
    }),
  ];
}

/** The panel of the sets with most unique rows; `.find(columns)`. */
export function worstSetsPanel({ signal }) {
  const place = h("div", { class: "stack tight" });
  const turn = latest();
  let size = 2;
  let columns = [];
  const sizes = segmented({
    label: "Size of the sets",
    hideLabel: true,
    value: String(size),
    options: [
      ["1", "single columns"],
      ["2", "pairs"],
      ["3", "triples"],
    ],
    onChange: (value) => {
      size = Number(value);
      element.find(columns);
    },
  });
  const element = panel({ title: "Which sets are worst?" }, sizes, place);
  element.find = async (among) => {
    columns = among;
    const isLast = turn();
    if (columns.length < size) {
      clear(place, h("p", { class: "muted" }, `Tick at least ${count(size, "column")}.`));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (!isLast()) return;
    try {
      const found = await query("/api/columns/worst", { columns, size }, { signal });
      if (isLast()) clear(place, worstSets(found));
    } catch (error) {
      if (error.name !== "AbortError" && isLast()) clear(place, notice(errorText(error), "bad"));
    }
  };
  return element;
}

function worstSets(found) {
  return [
    h(
      "ol",
      { class: "worst" },
      found.best.map((each) =>
        h(
          "li",
          {},
          h("span", { class: "grow" }, each.columns.join(" + ")),
          h("span", { class: "number" }, visuallyHidden("unique rows: "), share(each.unique_rows, each.rows)),
          meter(each.unique_rows / Math.max(1, each.rows), {
            label: `${share(each.unique_rows, each.rows)} unique`,
            tone: each.unique_rows / each.rows > 0.2 ? "bad" : "warning",
          }),
        ),
      ),
    ),
    found.examined < found.possible &&
      h(
        "p",
        { class: "small muted" },
        `${number(found.examined)} of ${number(found.possible)} sets were counted, those with most values first.`,
      ),
  ];
}
