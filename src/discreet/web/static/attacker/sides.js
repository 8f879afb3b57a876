// The original and the release next to each other: before and after if the original is known, else only after.

import { h } from "../dom.js";
import { wide } from "../components/parts.js";
import { table } from "../components/table.js";
import { bars } from "../plots/bars.js";

/** A table with a row for each `[title, render(side)]`, and a column for each known side. */
export function sideTable({ before, after }, { label, caption, rows }) {
  const sides = Object.entries({ before, after }).filter(([, side]) => side);
  return wide(
    label,
    table({
      caption,
      rows,
      columns: [
        { key: "title", title: "", head: true, render: ([title]) => title },
        ...sides.map(([name, side]) => ({
          key: name,
          title: name,
          number: true,
          render: ([, render]) => render(side),
        })),
      ],
    }),
  );
}

/** Bars for each `{label, …}` of `rows`; their length is `value(side, row)` for each known side. */
export function sideBars({ before, after }, { rows, value, ...about }) {
  return bars({
    rows: rows.map((row) => ({
      label: row.label,
      value: value(before ?? after, row),
      second: before ? value(after, row) : undefined,
    })),
    series: before ? ["before", "after"] : null,
    ...about,
  });
}

/** Two elements next to each other, or one below the other on narrow screens. */
export function pair(first, second) {
  return h("div", { class: "split even" }, first, second);
}
