// Where nodes stand: one band per height, the lowest at the foot. In a band nodes fill columns from left (small
// loss) to right (great loss). Where there are more nodes than cells can be told apart, a cell holds several
// nodes that follow each other; zooming in makes cells finer until each node has its own.

const SMALLEST_CELL = 1.95;
const LARGEST_CELL = 46;
const GUTTER = 30;
const PADDING = 8;

/** The layout of bands in an area of CSS pixels, for a zoom factor. All lengths are before zooming. */
export class BandLayout {
  constructor(starts, width, height, zoom = 1) {
    this.starts = starts;
    this.width = width;
    this.height = height;
    this.bands = starts.length - 1;
    this.gutter = GUTTER;
    this.area = Math.max(40, width - GUTTER - PADDING);
    this.band = (height - 2 * PADDING) / this.bands;
    this.gap = this.bands > 1 ? Math.min(16, Math.max(2, this.band * 0.16)) : 0;
    this.most = 1;
    for (let h = 0; h < this.bands; h += 1) this.most = Math.max(this.most, starts[h + 1] - starts[h]);
    this.fit(SMALLEST_CELL / zoom);
  }

  /** The largest cells with which the widest band fits; below `least`, several nodes share one. */
  fit(least) {
    const inner = Math.max(1, this.band - this.gap);
    let best = 0;
    for (let rows = 1; rows <= Math.max(1, Math.floor(inner / Math.min(least, 1))); rows += 1) {
      const found = Math.min(inner / rows, this.area / Math.ceil(this.most / rows), LARGEST_CELL);
      if (found > best) [best, this.rows] = [found, rows];
    }
    this.group = 1;
    if (best < least) {
      this.rows = Math.max(1, Math.floor(inner / least));
      const cells = this.rows * Math.max(1, Math.floor(this.area / least));
      this.group = Math.max(1, Math.ceil(this.most / cells));
      best = least;
    }
    const columns = Math.ceil(Math.ceil(this.most / this.group) / this.rows);
    const room = this.area / columns;
    this.cell = Math.min(inner / this.rows, 1.4 * Math.min(best, room), LARGEST_CELL);
    this.step =
      this.rows === 1 ? Math.max(this.cell, Math.min(room, 2.4 * this.cell)) : Math.min(room, 1.4 * this.cell);
    this.size = Math.min(this.cell, this.step);
  }

  cells(h) {
    return Math.ceil((this.starts[h + 1] - this.starts[h]) / this.group);
  }

  left(h) {
    return GUTTER + (this.area - Math.ceil(this.cells(h) / this.rows) * this.step) / 2;
  }

  top(h) {
    const inner = this.band - this.gap;
    const used = Math.min(this.rows, this.cells(h)) * this.cell;
    return PADDING + (this.bands - 1 - h) * this.band + this.gap / 2 + Math.max(0, (inner - used) / 2);
  }

  middle(h) {
    return PADDING + (this.bands - 1 - h + 0.5) * this.band;
  }

  /** The cell of a place within its band. */
  cellOf(h, place) {
    return Math.floor((place - this.starts[h]) / this.group);
  }

  /** The middle of a cell. */
  centre(h, cell) {
    const column = Math.floor(cell / this.rows);
    const row = cell - column * this.rows;
    return [this.left(h) + (column + 0.5) * this.step, this.top(h) + (row + 0.5) * this.cell];
  }

  /** The places that share a cell: from the first to the last, which is left out. */
  placesOf(h, cell) {
    const first = this.starts[h] + cell * this.group;
    return [first, Math.min(this.starts[h + 1], first + this.group)];
  }

  /** The cell at a point, as [height, cell]; null where there is none. */
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
