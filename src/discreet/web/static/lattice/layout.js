// Positions of nodes: one row per height, the least detail on top. In a row nodes fill columns from left (few classes)
// to right (many). Rows avoid the texts in the corners of the stage: the lattice becomes narrower, not the texts. If
// there are more nodes than cells that can be distinguished, a cell contains several consecutive nodes; zooming in
// makes cells finer until each node has its own.

const SMALLEST_CELL = 1.95;
const LARGEST_CELL = 46;
const PADDING = 2;
const CLEAR = 7; // pixels between a row and a text

/**
 * The layout of rows in an area of CSS pixels, for a zoom factor. All lengths are before zooming. `corners` are boxes
 * {left, top, right, bottom} that no row may touch; `middle` is the centre of rows; `widths` are the numbers of nodes
 * per height, which may exceed those available.
 */
export class BandLayout {
  constructor(starts, width, height, { zoom = 1, corners = [], middle = width / 2, widths = null } = {}) {
    this.starts = starts;
    this.width = width;
    this.height = height;
    this.bands = starts.length - 1;
    this.axis = middle;
    this.band = (height - 2 * PADDING) / this.bands;
    this.gap = this.bands > 1 ? Math.min(16, Math.max(1.4, this.band * (starts.at(-1) < 400 ? 0.16 : 0.055))) : 0;
    this.widths = widths ?? Array.from({ length: this.bands }, (_, h) => starts[h + 1] - starts[h]);
    this.room = this.widths.map((_, h) => this.roomOf(h, corners));
    this.fit(SMALLEST_CELL / zoom);
  }

  /** Return the maximum width of a row: twice the distance from its middle to the nearest text next to it. */
  roomOf(h, corners) {
    const top = PADDING + (this.bands - 1 - h) * this.band;
    let half = Math.min(this.axis, this.width - this.axis) - 1;
    for (const { left, right, top: over, bottom } of corners) {
      if (bottom + CLEAR <= top || over - CLEAR >= top + this.band) continue;
      half = Math.min(half, left > this.axis ? left - CLEAR - this.axis : this.axis - right - CLEAR);
    }
    return Math.max(6, 2 * half);
  }

  /** Return the largest cells with which every row fits; below `least`, several nodes share one. */
  fit(least) {
    const inner = Math.max(1, this.band - this.gap);
    const narrowest = (rows) => Math.min(...this.widths.map((many, h) => this.room[h] / Math.ceil(many / rows)));
    let best = 0;
    for (let rows = 1; rows <= Math.max(1, Math.floor(inner / Math.min(least, 1))); rows += 1) {
      const found = Math.min(inner / rows, narrowest(rows), LARGEST_CELL);
      if (found > best + 1e-9) [best, this.rows] = [found, rows];
    }
    this.group = 1;
    if (best < least) {
      this.rows = Math.max(1, Math.floor(inner / least));
      const share = (many, h) => many / (this.rows * Math.max(1, Math.floor(this.room[h] / least)));
      this.group = Math.max(1, Math.ceil(Math.max(...this.widths.map(share))));
      best = least;
    }
    const room = narrowest(this.rows * this.group);
    if (best >= 2 && best < 6) best = Math.floor(best * 2 + 1e-6) / 2; // whole or half pixels: equal cells
    this.cell = Math.min(inner / this.rows, best >= 8 ? Math.min(1.3 * best, LARGEST_CELL) : best);
    this.step = best >= 8 && this.rows === 1 ? Math.max(best, Math.min(room, 2.2 * this.cell)) : best;
    this.size = Math.min(this.cell, this.step);
  }

  cells(h) {
    return Math.ceil((this.starts[h + 1] - this.starts[h]) / this.group);
  }

  /** Return the number of cells of a row with all of its nodes. */
  allCells(h) {
    return Math.ceil(Math.max(this.widths[h], this.starts[h + 1] - this.starts[h]) / this.group);
  }

  left(h) {
    return this.axis - (Math.ceil(this.allCells(h) / this.rows) * this.step) / 2;
  }

  top(h) {
    const inner = this.band - this.gap;
    const used = Math.min(this.rows, this.allCells(h)) * this.cell;
    return PADDING + (this.bands - 1 - h) * this.band + this.gap / 2 + Math.max(0, (inner - used) / 2);
  }

  middle(h) {
    return PADDING + (this.bands - 1 - h + 0.5) * this.band;
  }

  /** Return the box of a whole row as [left, top, width, height]. */
  box(h) {
    const columns = Math.ceil(this.allCells(h) / this.rows);
    return [this.left(h), this.top(h), columns * this.step, Math.min(this.rows, this.allCells(h)) * this.cell];
  }

  /** Return the cell of a place within its row. */
  cellOf(h, place) {
    return Math.floor((place - this.starts[h]) / this.group);
  }

  /** Return the middle of a cell. */
  centre(h, cell) {
    const column = Math.floor(cell / this.rows);
    const row = cell - column * this.rows;
    return [this.left(h) + (column + 0.5) * this.step, this.top(h) + (row + 0.5) * this.cell];
  }

  /** Return the places that share a cell: first and last, last excluded. */
  placesOf(h, cell) {
    const first = this.starts[h] + cell * this.group;
    return [first, Math.min(this.starts[h + 1], first + this.group)];
  }

  /** Return the cell at a point as [height, cell]; null if there is none. */
  at(x, y) {
    const h = this.bands - 1 - Math.floor((y - PADDING) / this.band);
    if (h < 0 || h >= this.bands) return null;
    const column = Math.floor((x - this.left(h)) / this.step);
    const row = Math.floor((y - this.top(h)) / this.cell);
    if (column < 0 || row < 0 || row >= this.rows) return null;
    const cell = column * this.rows + row;
    return cell < this.cells(h) ? [h, cell] : null;
  }
}
