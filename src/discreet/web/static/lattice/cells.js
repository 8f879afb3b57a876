// Cells that are too small for discs, painted into a pixel buffer. Their positions are computed once per layout and
// view, and the buffer is kept: a move of a slider changes only colours.

import { summary } from "./aggregate.js";

/** Call `each(height, firstCell, endCell)` for the visible heights and their visible columns. */
export function visible(layout, view, width, height, each) {
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

/** The cells of one canvas. */
export class Cells {
  /** Paint every visible cell; with `printing` as strokes below the existing content. */
  paint(pen, layout, nodes, scale, view, ratio, printing) {
    const { width, height } = pen.canvas;
    this.place(layout, view, ratio, width, height);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    if (printing) {
      this.stroke(pen, nodes, scale);
      return;
    }
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = pen.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else if (this.moved) this.pixels.fill(0);
    this.moved = false;
    const { boxes, pixels } = this;
    for (let cell = 0, at = 0; cell < this.count; cell += 1, at += 4) {
      const colour = this.colourOf(cell, nodes, scale);
      const [x0, x1] = [boxes[at], boxes[at + 1]];
      const end = boxes[at + 3] * width;
      // Rows of a few pixels: a call of fill() would cost more than setting them.
      for (let line = boxes[at + 2] * width; line < end; line += width)
        for (let x = line + x0; x < line + x1; x += 1) pixels[x] = colour;
    }
    pen.putImageData(this.image, 0, 0);
  }

  stroke(pen, nodes, scale) {
    for (let cell = 0; cell < this.count; cell += 1) {
      const colour = this.colourOf(cell, nodes, scale);
      const [x0, x1, y0, y1] = this.boxes.subarray(4 * cell, 4 * cell + 4);
      pen.fillStyle = `rgb(${colour & 255}, ${(colour >> 8) & 255}, ${(colour >> 16) & 255})`;
      pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    }
  }

  /** Return the colour of the nodes that share a cell. */
  colourOf(cell, nodes, scale) {
    const first = this.firsts[cell];
    if (this.group === 1) return scale.pixelOf(nodes, first);
    const [list, at] = scale.key(summary(nodes, first, this.lasts[cell]), nodes.limit, nodes.rows);
    return scale.pixels[list][at];
  }

  /** Compute the places of each visible cell and its box: left, right, top and bottom in canvas pixels. */
  place(layout, view, ratio, wide, high) {
    const key = [view.scale, view.x, view.y, ratio, wide, high].join();
    if (layout === this.layout && key === this.key) return;
    Object.assign(this, { layout, key, group: layout.group, moved: true });
    const { rows, group } = layout;
    const [firsts, lasts, boxes] = [[], [], []];
    const stretch = view.scale * ratio;
    const space = layout.size * stretch >= 6 * ratio ? 1 : 0;
    const [across, down] = [layout.step * stretch, layout.cell * stretch];
    visible(layout, view, wide / ratio, high / ratio, (h, from, to) => {
      const left = layout.left(h) * stretch + view.x * ratio;
      const top = layout.top(h) * stretch + view.y * ratio;
      for (let cell = from; cell < to; cell += 1) {
        const first = layout.starts[h] + cell * group;
        const column = (cell / rows) | 0;
        const row = cell - column * rows;
        const x0 = Math.max(0, Math.round(left + column * across));
        const x1 = Math.min(wide, Math.max(x0 + 1, Math.round(left + (column + 1) * across) - space));
        const y0 = Math.max(0, Math.round(top + row * down));
        const y1 = Math.min(high, Math.max(y0 + 1, Math.round(top + (row + 1) * down) - space));
        firsts.push(first);
        lasts.push(Math.min(layout.starts[h + 1], first + group));
        boxes.push(x0, x1, y0, y1);
      }
    });
    this.count = firsts.length;
    this.firsts = Uint32Array.from(firsts);
    this.lasts = Uint32Array.from(lasts);
    this.boxes = Int32Array.from(boxes);
  }
}
