// Painting a lattice: cells in a pixel buffer while they are small, discs with their levels if there is room.

import { summary } from "./aggregate.js";
import { visible } from "./cells.js";

export const DISC = 9; // minimum pixels of a cell for discs

/**
 * Paint every visible cell. `cells` are the chart's; `view` is {scale, x, y}: screen = layout · scale + offset; `ratio`
 * is device pixels per CSS pixel; with `printing` as strokes below the existing content.
 */
export function drawNodes(canvas, cells, layout, nodes, scale, view, ratio, { printing = false } = {}) {
  const pen = canvas.getContext("2d");
  if (layout.size * view.scale >= DISC) drawDiscs(pen, layout, nodes, scale, view, ratio, printing);
  else cells.paint(pen, layout, nodes, scale, view, ratio, printing);
}

function drawDiscs(pen, layout, nodes, scale, view, ratio, printing) {
  const wide = pen.canvas.width / ratio;
  const high = pen.canvas.height / ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!printing) pen.clearRect(0, 0, wide, high);
  const size = layout.size * view.scale;
  if (nodes.count <= 400 && size >= 14 && layout.group === 1) drawAllEdges(pen, layout, nodes, scale, view);
  const radius = discRadius(layout, view);
  const paths = new Map();
  const labels = [];
  visible(layout, view, wide, high, (h, from, to) => {
    for (let cell = from; cell < to; cell += 1) {
      const [first, last] = layout.placesOf(h, cell);
      const found = summary(nodes, first, last);
      const [list, at] = scale.key(found, nodes.limit, nodes.rows);
      const colour = scale.texts[list][at];
      const [x, y] = layout.centre(h, cell);
      const cx = x * view.scale + view.x;
      const cy = y * view.scale + view.y;
      let path = paths.get(colour);
      if (!path) paths.set(colour, (path = new Path2D()));
      path.moveTo(cx + radius, cy);
      path.arc(cx, cy, radius, 0, 7);
      if (size >= 34 && nodes.width <= 6 && last - first === 1) labels.push([first, cx, cy, colour]);
    }
  });
  for (const [colour, path] of paths) {
    pen.fillStyle = colour;
    pen.fill(path);
  }
  if (labels.length > 0) drawLabels(pen, nodes, labels, radius, scale);
}

export function discRadius(layout, view) {
  return Math.min(17, Math.max(1.5, layout.size * view.scale * 0.41));
}

function drawLabels(pen, nodes, labels, radius, scale) {
  const size = Math.min(12, Math.floor((3.2 * radius) / Math.max(2.5, nodes.width)));
  if (size < 8) return;
  pen.font = `400 ${size}px ${scale.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const [place, x, y, colour] of labels) {
    pen.fillStyle = light(colour) ? "#0b1216" : "#ffffff";
    pen.fillText(nodes.levelsOf(place).join(""), x, y + 0.5);
  }
}

function light(colour) {
  const [r, g, b] = colour.match(/\d+/g).map((part) => (part / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.19;
}

function drawAllEdges(pen, layout, nodes, scale, view) {
  pen.strokeStyle = scale.edge;
  pen.globalAlpha = 0.6;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let place = 0; place < nodes.count; place += 1) {
    const [x, y] = point(layout, nodes, view, place);
    for (const other of nodes.neighbours(place, 1)) {
      const [toX, toY] = point(layout, nodes, view, other);
      pen.moveTo(x, y);
      pen.lineTo(toX, toY);
    }
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

/** Return the screen position of a place in CSS pixels. */
export function point(layout, nodes, view, place) {
  const h = nodes.heightOf(place);
  const [x, y] = layout.centre(h, layout.cellOf(h, place));
  return [x * view.scale + view.x, y * view.scale + view.y];
}
