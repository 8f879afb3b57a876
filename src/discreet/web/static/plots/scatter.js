// Points in two directions, joined from left to right; chosen by pointer or arrows.

import { svg } from "../dom.js";
import { dataTableBehind } from "../components/table.js";
import { announce } from "../components/status.js";
import { significant } from "../format.js";
import { label, line, ticks } from "./axes.js";

const LEFT = 58;
const BOTTOM = 46;
const TOP = 12;
const RIGHT = 16;

/** `points: [{x, y, key, label, chosen}]`; the figure has `.highlight(key)`. */
export function scatter({
  points,
  xTitle,
  yTitle,
  xFormat = significant,
  yFormat = significant,
  caption,
  onHover = () => {},
  onSelect = () => {},
  joined = true,
  width = 520,
  height = 300,
}) {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  const xs = ticks(Math.max(1e-9, ...points.map((p) => p.x)), 5);
  const ys = ticks(Math.max(1e-9, ...points.map((p) => p.y)));
  const x = (value) => LEFT + ((width - LEFT - RIGHT) * value) / xs.at(-1);
  const y = (value) => height - BOTTOM - ((height - BOTTOM - TOP) * value) / ys.at(-1);
  const dots = new Map();
  const words = (point) => `${point.label}: ${xTitle} ${xFormat(point.x)}, ${yTitle} ${yFormat(point.y)}`;
  const dot = (point) => {
    const made = svg(
      "circle",
      { class: `dot ${point.chosen ? "chosen" : ""}`, cx: x(point.x), cy: y(point.y), r: point.chosen ? 7 : 5 },
      svg("title", {}, words(point)),
    );
    made.addEventListener("pointerenter", () => {
      figure.highlight(point.key);
      onHover(point.key);
    });
    made.addEventListener("pointerleave", () => {
      figure.highlight(null);
      onHover(null);
    });
    made.addEventListener("click", () => onSelect(point.key));
    dots.set(point.key, made);
    return made;
  };
  const drawn = svg(
    "svg",
    {
      class: "plot",
      viewBox: `0 0 ${width} ${height}`,
      role: "application",
      tabindex: "0",
      "aria-label": `${caption}. Arrows move between points, Enter chooses one.`,
    },
    xs.map((value) => [
      line(x(value), TOP, x(value), height - BOTTOM),
      label(x(value), height - BOTTOM + 17, xFormat(value)),
    ]),
    ys.map((value) => [
      line(LEFT, y(value), width - RIGHT, y(value)),
      label(LEFT - 7, y(value) + 4, yFormat(value), { anchor: "end" }),
    ]),
    line(LEFT, height - BOTTOM, width - RIGHT, height - BOTTOM, "axis"),
    line(LEFT, TOP, LEFT, height - BOTTOM, "axis"),
    label((LEFT + width - RIGHT) / 2, height - 6, xTitle),
    label(14, (TOP + height - BOTTOM) / 2, yTitle, { rotate: -90 }),
    joined &&
      sorted.length > 1 &&
      svg("polyline", { class: "line", points: sorted.map((p) => `${x(p.x)},${y(p.y)}`).join(" ") }),
    sorted.map(dot),
  );
  let at = Math.max(
    0,
    sorted.findIndex((p) => p.chosen),
  );
  drawn.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (step && sorted.length > 0) {
      event.preventDefault();
      at = Math.min(sorted.length - 1, Math.max(0, at + step));
      figure.highlight(sorted[at].key);
      onHover(sorted[at].key);
      announce(words(sorted[at]));
    } else if ((event.key === "Enter" || event.key === " ") && sorted[at]) {
      event.preventDefault();
      onSelect(sorted[at].key);
    }
  });
  const figure = dataTableBehind(drawn, {
    caption,
    rows: sorted,
    columns: [
      { key: "label", title: "point", head: true },
      { key: "x", title: xTitle, number: true, render: (p) => xFormat(p.x) },
      { key: "y", title: yTitle, number: true, render: (p) => yFormat(p.y) },
    ],
  });
  figure.highlight = (key) => {
    for (const [each, made] of dots) made.classList.toggle("high", each === key);
    const place = sorted.findIndex((p) => p.key === key);
    if (place >= 0) at = place;
  };
  return figure;
}
