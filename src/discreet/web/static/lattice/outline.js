// A lattice before its evaluation: a hairline per row, as wide as its nodes, filled from the top as they are counted.

import { svg } from "../dom.js";

const WIDE = 720;
const HIGH = 400;
const MOST_ROWS = 80;

/** Return the number of nodes per height, from the bottom, for the attributes' heights. */
export function widthsOf(heights) {
  return heights.reduce(
    (widths, height) => {
      const sums = new Array(widths.length + height).fill(0);
      widths.forEach((many, at) => {
        for (let level = 0; level <= height; level += 1) sums[at + level] += many;
      });
      return sums;
    },
    [1],
  );
}

/** `.element`, and `.fill(share)` of all nodes, from the top; null for a lattice too tall to be drawn. */
export function outline(heights) {
  const widths = widthsOf(heights).reverse();
  if (heights.length === 0 || widths.length > MOST_ROWS) return null;
  const most = Math.max(...widths);
  const all = widths.reduce((sum, many) => sum + many, 0);
  const step = HIGH / widths.length;
  const rows = widths.map((many, at) => {
    const width = Math.max(3, (WIDE * many) / most);
    return svg("rect", { x: (WIDE - width) / 2, y: at * step + 1, width, height: Math.max(2, step - 4) });
  });
  const element = svg(
    "svg",
    { class: "lattice-outline", viewBox: `-1 0 ${WIDE + 2} ${HIGH}`, "aria-hidden": "true" },
    rows,
  );
  const fill = (share) => {
    let sum = 0;
    rows.forEach((row, at) => {
      sum += widths[at];
      row.classList.toggle("counted", sum <= share * all + 1e-9);
    });
  };
  return { element, fill };
}
