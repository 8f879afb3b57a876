// Painting a lattice: cells into a buffer of pixels while they are small, discs with their levels once there is room.

import { summary } from "./aggregate.js";

export const DISC = 9; // pixels of a cell from which nodes are discs

/** Paint every visible cell. `view` is {scale, x, y}: screen = layout · scale + offset; `ratio` device pixels. */
export function drawNodes(canvas, layout, nodes, scale, view, ratio) {
  const pen = canvas.getContext("2d");
  if (layout.size * view.scale >= DISC) drawDiscs(pen, layout, nodes, scale, view, ratio);
  else drawCells(pen, layout, nodes, scale, view, ratio);
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

function drawCells(pen, layout, nodes, scale, view, ratio) {
  const wide = pen.canvas.width;
  const high = pen.canvas.height;
  const image = pen.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  const size = layout.size * view.scale * ratio;
  const space = size >= 3.5 * ratio ? 1 : 0;
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
      for (let y = y0; y < y1; y += 1) pixels.fill(colour, y * wide + x0, y * wide + x1);
    }
  });
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.putImageData(image, 0, 0);
}

function drawDiscs(pen, layout, nodes, scale, view, ratio) {
  const wide = pen.canvas.width / ratio;
  const high = pen.canvas.height / ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  const size = layout.size * view.scale;
  if (nodes.count <= 130 && size >= 20 && layout.group === 1) drawAllEdges(pen, layout, nodes, scale, view);
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
  if (labels.length > 0) drawLabels(pen, nodes, labels, radius);
}

export function discRadius(layout, view) {
  return Math.min(17, Math.max(1.5, layout.size * view.scale * 0.41));
}

function drawLabels(pen, nodes, labels, radius) {
  const size = Math.min(12, Math.floor((3.2 * radius) / Math.max(2.5, nodes.width)));
  if (size < 8) return;
  pen.font = `600 ${size}px ui-monospace, "DejaVu Sans Mono", monospace`;
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
  pen.strokeStyle = scale["line-strong"];
  pen.globalAlpha = 0.45;
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

/**
 * Paint what changes with the pointer: heights, the edges of the chosen and of the hovered node, the frontier,
 * the request's own node, the answers with their names, and rings around chosen and hovered.
 */
export function drawMarks(canvas, layout, nodes, scale, view, ratio, marks) {
  const pen = canvas.getContext("2d");
  const wide = canvas.width / ratio;
  const high = canvas.height / ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, high);
  drawHeights(pen, layout, scale, view, high);
  for (const place of [marks.chosen, marks.hovered]) {
    if (place >= 0) drawEdges(pen, layout, nodes, scale, view, place);
  }
  if (marks.frontier) drawFrontier(pen, layout, nodes, scale, view, marks.frontier);
  if (marks.request >= 0) drawRequest(pen, layout, nodes, scale, view, marks.request);
  const size = Math.max(5, discRadius(layout, view) + 3);
  const named = new Map();
  for (const { place, name } of marks.answers) if (place >= 0) named.set(place, [...(named.get(place) ?? []), name]);
  for (const place of named.keys()) ring(pen, point(layout, nodes, view, place), size, scale.ink, scale.surface, 2);
  if (marks.hovered >= 0) ring(pen, point(layout, nodes, view, marks.hovered), size, scale.ink, scale.surface, 2);
  if (marks.chosen >= 0) {
    const at = point(layout, nodes, view, marks.chosen);
    ring(pen, at, size + 1, scale["lattice-chosen"], scale.surface, 3.5);
    if (layout.size * view.scale < DISC) dot(pen, at, 3, scale["lattice-chosen"]);
  }
  for (const [place, names] of named) {
    tag(pen, point(layout, nodes, view, place), size, names.join(", "), scale, wide, layout.size * view.scale >= DISC);
  }
}

function drawHeights(pen, layout, scale, view, high) {
  pen.font = '500 11px system-ui, "Liberation Sans", sans-serif';
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  const every = [1, 2, 5, 10, 20, 50, 100].find((step) => step * layout.band * view.scale >= 13) ?? 200;
  for (let h = 0; h < layout.bands; h += 1) {
    const y = layout.middle(h) * view.scale + view.y;
    if (y < 6 || y > high - 6 || (h % every !== 0 && h !== layout.bands - 1)) continue;
    if (
      h !== layout.bands - 1 &&
      h + every > layout.bands - 1 &&
      (layout.bands - 1 - h) * layout.band * view.scale < 13
    )
      continue;
    pen.lineWidth = 3;
    pen.strokeStyle = scale.surface;
    pen.strokeText(String(h), 20, y);
    pen.fillStyle = scale["ink-2"];
    pen.fillText(String(h), 20, y);
  }
}

/** Stroke a path in ink, with a wider stroke of the surface below it, so that it stands out on every colour. */
function strokeOnSurface(pen, scale, [wide, narrow], path) {
  for (const [colour, width] of [
    [scale.surface, wide],
    [scale.ink, narrow],
  ]) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    path();
    pen.stroke();
  }
}

function drawEdges(pen, layout, nodes, scale, view, place) {
  const from = point(layout, nodes, view, place);
  const around = [...nodes.neighbours(place, 1), ...nodes.neighbours(place, -1)];
  const large = layout.size * view.scale >= DISC;
  const radius = large ? discRadius(layout, view) : 0;
  strokeOnSurface(pen, scale, [3.5, 1.3], () => {
    for (const other of around) {
      const to = point(layout, nodes, view, other);
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
      const part = Math.min(0.45, radius / length);
      pen.moveTo(from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1]));
      pen.lineTo(to[0] - part * (to[0] - from[0]), to[1] - part * (to[1] - from[1]));
    }
  });
  for (const other of around) {
    const where = point(layout, nodes, view, other);
    if (large) {
      ring(pen, where, radius + 0.5, scale.ink, scale.surface, 1.6);
      continue;
    }
    const h = nodes.heightOf(other);
    const [first, last] = layout.placesOf(h, layout.cellOf(h, other));
    const [list, at] = scale.key(summary(nodes, first, last), nodes.limit, nodes.rows);
    dot(pen, where, 4.4, scale.ink);
    dot(pen, where, 2.9, scale.texts[list][at]);
  }
}

function drawFrontier(pen, layout, nodes, scale, view, places) {
  const large = layout.size * view.scale >= DISC;
  const radius = large ? Math.max(2, discRadius(layout, view) * 0.26) : 1.5;
  const aside = large ? discRadius(layout, view) * 0.78 : 0;
  for (const place of places) {
    const [x, y] = point(layout, nodes, view, place);
    pen.globalAlpha = nodes.inside[place] ? 1 : 0.5;
    dot(pen, [x + aside, y - aside], radius + 1, scale.ink);
    dot(pen, [x + aside, y - aside], radius, scale.surface);
  }
  pen.globalAlpha = 1;
}

function drawRequest(pen, layout, nodes, scale, view, place) {
  const [x, y] = point(layout, nodes, view, place);
  const r = Math.max(11, discRadius(layout, view) + 5);
  strokeOnSurface(pen, scale, [5, 2], () => {
    pen.moveTo(x, y - r);
    pen.lineTo(x + r, y);
    pen.lineTo(x, y + r);
    pen.lineTo(x - r, y);
    pen.closePath();
  });
}

function ring(pen, [x, y], radius, colour, halo, width) {
  for (const [stroke, thick] of [
    [halo, width + 3],
    [colour, width],
  ]) {
    pen.strokeStyle = stroke;
    pen.lineWidth = thick;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.stroke();
  }
}

function dot(pen, [x, y], radius, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  pen.fill();
}

function tag(pen, [x, y], radius, name, scale, wide, below) {
  pen.font = '600 11px system-ui, "Liberation Sans", sans-serif';
  const width = pen.measureText(name).width + 12;
  let left = x + radius + 5 + width > wide ? x - radius - 5 - width : x + radius + 5;
  let top = y - 9;
  if (below) [left, top] = [Math.min(Math.max(2, x - width / 2), wide - width - 2), y + radius + 1];
  pen.fillStyle = scale.ink;
  pen.beginPath();
  pen.roundRect(left, top, width, 17, 9);
  pen.fill();
  pen.fillStyle = scale.surface;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillText(name, left + 6, top + 9);
}
