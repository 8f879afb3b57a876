// Scales and axes of the SVG plots.

import { svg } from "../dom.js";

/** Return round numbers from 0 (or `low`) to at least `high`, about `wanted` of them. */
export function ticks(high, wanted = 4, low = 0) {
  const span = high - low || 1;
  const raw = span / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= raw * 0.999);
  const first = Math.floor(low / step) * step;
  const found = [];
  for (let value = first; value < high + step * 0.999; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

/** A text of the plot. */
export function label(x, y, words, { anchor = "middle", kind = "", rotate = 0 } = {}) {
  return svg(
    "text",
    { x, y, "text-anchor": anchor, class: kind, transform: rotate ? `rotate(${rotate} ${x} ${y})` : null },
    words,
  );
}

/** A straight line. */
export function line(x1, y1, x2, y2, kind = "grid") {
  return svg("line", { x1, y1, x2, y2, class: kind });
}

/** Return the width of a plot at which its texts are readable on a phone. */
export function plotWidth() {
  return window.innerWidth < 600 ? 330 : 520;
}
