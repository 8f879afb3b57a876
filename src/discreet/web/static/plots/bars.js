// Horizontal bars: one row per name, one or two series.

import { h, svg } from "../dom.js";
import { dataTableBehind } from "../components/table.js";
import { number, shorten } from "../format.js";
import { label, line, plotWidth, ticks } from "./axes.js";

/** `rows: [{label, value, second, tone}]`; `series` names the two series if there are two. */
export function bars({ rows, format = number, caption, series = null, nameTitle = "name", width = plotWidth() }) {
  const two = series !== null && series.length === 2;
  const longest = Math.max(4, ...rows.map((row) => Math.min(30, row.label.length)));
  const left = Math.min(width * 0.42, 14 + longest * 7);
  const right = 62;
  const each = two ? 34 : 24;
  const height = rows.length * each + 12;
  const top = ticks(Math.max(1e-9, ...rows.map((row) => Math.max(row.value ?? 0, row.second ?? 0)))).at(-1);
  const x = (value) => left + ((width - left - right) * value) / top;
  const bar = (value, y, kind, thick) => [
    svg("rect", {
      class: `bar ${kind}`,
      x: left,
      y,
      width: Math.max(value > 0 ? 1.5 : 0, x(value) - left),
      height: thick,
      rx: 2,
    }),
    label(x(value) + 6, y + thick / 2 + 4, format(value), { anchor: "start", kind: "value" }),
  ];
  const drawn = svg(
    "svg",
    { class: two ? "plot paired" : "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": caption },
    rows.map((row, place) => {
      const y = 6 + place * each;
      return [
        svg(
          "text",
          { x: left - 8, y: y + each / 2 + 1, "text-anchor": "end" },
          shorten(row.label, 28),
          svg("title", {}, row.label),
        ),
        bar(row.value ?? 0, y, row.tone ?? "", two ? 13 : 16),
        two && bar(row.second ?? 0, y + 14, "second", 13),
      ];
    }),
    line(left, 2, left, height - 2, "axis"),
  );
  const legend =
    two &&
    h(
      "p",
      { class: "legend paired" },
      h("span", {}, h("span", { class: "key" }), series[0]),
      h("span", {}, h("span", { class: "key second" }), series[1]),
    );
  return dataTableBehind(drawn, {
    caption,
    rows,
    legend,
    columns: [
      { key: "label", title: nameTitle, head: true },
      { key: "value", title: series?.[0] ?? "value", number: true, render: (row) => format(row.value) },
      ...(two ? [{ key: "second", title: series[1], number: true, render: (row) => format(row.second) }] : []),
    ],
  });
}
