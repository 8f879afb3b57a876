// Painting a lattice: cells into a buffer of pixels while they are small, discs with their levels once there is room.

import { summary } from "./aggregate.js";

export const DISC = 9; // pixels of a cell from which nodes are discs

/**
 * Paint every visible cell. `view` is {scale, x, y}: screen = layout · scale + offset; `ratio` device pixels; with
 * `printing` as strokes, under what is there.
 */
export function drawNodes(canvas, layout, nodes, scale, view, ratio, { printing = false } = {}) {
  const pen = canvas.getContext("2d");
  if (layout.size * view.scale >= DISC) drawDiscs(pen, layout, nodes, scale, view, ratio, printing);
  else drawCells(pen, layout, nodes, scale, view, ratio, printing);
}

/** The heights in sight, and for each the columns in sight: calls `each(height, firstCell, endCell)`. */
function visible(layout, view, width, height, each) {
  const { rows, step } = layout;
  for (let h = 0; h < layout.bands; h += 1) {
    const middle = layout.middle(h) * view.scale + view.y;
    const half = (layout.band * view.scale) / 2 + 2;
    if (middle < -half || middle > height + half) continue;
    const left = layout.left(h);
    const columns = Math.ceil(layout.cells(h) / rows);
    const first = Math.max(0, Math.floor(((0 - view.x) / view.scale - left) / step));
    const end = Math.min(columns, Math.ceil(((width - view.x) / view.scale - left) / step));
    if (end > first) each(h, first * rows, Math.min(layout.cells(h), end * rows));
  }
}

function drawCells(pen, layout, nodes, scale, view, ratio, printing) {
  const wide = pen.canvas.width;
  const high = pen.canvas.height;
  const image = pen.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  const size = layout.size * view.scale * ratio;
  const space = size >= 6 * ratio ? 1 : 0;
  const stretch = view.scale * ratio;
  visible(layout, view, wide / ratio, high / ratio, (h, from, to) => {
    const left = layout.left(h) * stretch + view.x * ratio;
    const top = layout.top(h) * stretch + view.y * ratio;
    const across = layout.step * stretch;
    const down = layout.cell * stretch;
    const { rows, group } = layout;
    const start = layout.starts[h];
    const stop = layout.starts[h + 1];
    for (let cell = from; cell < to; cell += 1) {
      const first = start + cell * group;
      let colour;
      if (group === 1) colour = scale.pixelOf(nodes, first);
      else {
        const [list, at] = scale.key(summary(nodes, first, Math.min(stop, first + group)), nodes.limit, nodes.rows);
        colour = scale.pixels[list][at];
      }
      const column = (cell / rows) | 0;
      const row = cell - column * rows;
      const x0 = Math.max(0, Math.round(left + column * across));
      const x1 = Math.min(wide, Math.max(x0 + 1, Math.round(left + (column + 1) * across) - space));
      const y0 = Math.max(0, Math.round(top + row * down));
      const y1 = Math.min(high, Math.max(y0 + 1, Math.round(top + (row + 1) * down) - space));
      if (printing) {
        pen.fillStyle = `rgb(${colour & 255}, ${(colour >> 8) & 255}, ${(colour >> 16) & 255})`;
        pen.fillRect(x0, y0, x1 - x0, y1 - y0);
        continue;
      }
      for (let y = y0; y < y1; y += 1) pixels.fill(colour, y * wide + x0, y * wide + x1);
    }
  });
  if (!printing) pen.putImageData(image, 0, 0);
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

/** Where a place is on screen, in CSS pixels. */
export function point(layout, nodes, view, place) {
  const h = nodes.heightOf(place);
  const [x, y] = layout.centre(h, layout.cellOf(h, place));
  return [x * view.scale + view.x, y * view.scale + view.y];
}
