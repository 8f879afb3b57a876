// Vertical bars: counts of bins in their order.

import { svg } from "../dom.js";
import { dataTableBehind } from "../components/table.js";
import { number } from "../format.js";
import { label, line, plotWidth, ticks } from "./axes.js";

const HEIGHT = 220;
const LEFT = 68;
const BOTTOM = 44;
const TOP = 12;

/** `bins: [{label, count, tone}]`; every label is complete, and slanted if there are many. */
export function histogram({ bins, xTitle, yTitle, caption, width = plotWidth() }) {
  const longest = Math.max(1, ...bins.map((bin) => bin.label.length));
  const each = (width - LEFT - 8) / Math.max(1, bins.length);
  const slanted = longest * 7 > each - 4;
  const bottom = slanted ? Math.min(110, 30 + longest * 5.2) : BOTTOM;
  const height = HEIGHT + bottom;
  const marks = ticks(Math.max(1, ...bins.map((bin) => bin.count)));
  const top = marks.at(-1);
  const base = height - bottom;
  const y = (value) => base - ((base - TOP) * value) / top;
  const drawn = svg(
    "svg",
    { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": caption },
    marks.map((value) => [
      line(LEFT, y(value), width, y(value)),
      label(LEFT - 6, y(value) + 4, number(value), { anchor: "end" }),
    ]),
    bins.map((bin, place) => {
      const x = LEFT + 4 + place * each;
      const wide = Math.max(1, Math.min(64, each - 3));
      const at = x + each / 2;
      return [
        svg(
          "rect",
          {
            class: `bar ${bin.tone ?? ""}`,
            x: at - wide / 2,
            width: wide,
            y: y(bin.count),
            height: Math.max(bin.count > 0 ? 1.5 : 0, base - y(bin.count)),
            rx: 2,
          },
          svg("title", {}, `${bin.label}: ${number(bin.count)}`),
        ),
        slanted ? label(at + 4, base + 14, bin.label, { anchor: "end", rotate: -40 }) : label(at, base + 16, bin.label),
      ];
    }),
    line(LEFT, base, width, base, "axis"),
    label((LEFT + width) / 2, height - 4, xTitle),
    label(14, (TOP + base) / 2, yTitle, { rotate: -90 }),
  );
  return dataTableBehind(drawn, {
    caption,
    rows: bins,
    columns: [
      { key: "label", title: xTitle, head: true },
      { key: "count", title: yTitle, number: true, render: (bin) => number(bin.count) },
    ],
  });
}
