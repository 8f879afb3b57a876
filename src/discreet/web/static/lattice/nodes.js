// The nodes of a lattice by place: by height, within a height by their number of classes. Typed arrays.

/** The nodes sent by the server: levels, losses, suppressed rows; neighbours and the region of the request. */
export class LatticeNodes {
  constructor({ attributes, starts, levels, losses, rows, widths = null }) {
    this.attributes = attributes; // [{name, height}]
    this.width = attributes.length;
    this.starts = starts;
    this.levels = levels;
    this.losses = losses;
    this.rows = rows;
    this.count = losses.length;
    this.heights = starts.length - 1;
    this.widths = widths; // nodes of the whole lattice per height
    this.all = widths ? widths.reduce((sum, each) => sum + each, 0) : this.count;
    this.suppressed = new Uint32Array(this.count);
    this.limit = 0;
    // 0: no, 1: within the limit but outside the levels, 2: meets, 3: lowest that meet
    this.meets = new Uint8Array(this.count);
    this.inside = new Uint8Array(this.count);
    this.index();
  }

  /** Index the nodes: in mixed-radix order if all nodes are available, else by their levels as text. */
  index() {
    const sides = this.attributes.map((attribute) => attribute.height + 1);
    const size = sides.reduce((product, side) => product * side, 1);
    this.strides = new Array(this.width).fill(1);
    for (let i = this.width - 2; i >= 0; i -= 1) this.strides[i] = this.strides[i + 1] * sides[i + 1];
    this.whole = size === this.count;
    if (this.whole) {
      this.places = new Uint32Array(size);
      this.indices = new Uint32Array(size);
      for (let place = 0, at = 0; place < this.count; place += 1) {
        let found = 0;
        for (let i = 0; i < this.width; i += 1, at += 1) found += this.levels[at] * this.strides[i];
        this.places[found] = place;
        this.indices[place] = found;
      }
    } else {
      this.known = new Map();
      for (let place = 0; place < this.count; place += 1) this.known.set(this.levelsOf(place).join(), place);
    }
  }

  levelsOf(place) {
    return Array.from(this.levels.subarray(place * this.width, (place + 1) * this.width));
  }

  byName(place) {
    const levels = this.levelsOf(place);
    return Object.fromEntries(this.attributes.map((attribute, i) => [attribute.name, levels[i]]));
  }

  heightOf(place) {
    let low = 0;
    let high = this.heights - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Return the place of a node given by its levels; -1 if it is not available. */
  placeOf(levels) {
    if (this.whole) return this.places[levels.reduce((sum, level, i) => sum + level * this.strides[i], 0)];
    return this.known.get(levels.join()) ?? -1;
  }

  /** Return the place one level up (1) or down (-1) in an attribute; -1 if it is not available. */
  step(place, attribute, by) {
    const level = this.levels[place * this.width + attribute] + by;
    if (level < 0 || level > this.attributes[attribute].height) return -1;
    if (this.whole) return this.places[this.indices[place] + by * this.strides[attribute]];
    const levels = this.levelsOf(place);
    levels[attribute] = level;
    return this.known.get(levels.join()) ?? -1;
  }

  /** Return all nodes one level away: up (1) or down (-1). */
  neighbours(place, by) {
    const found = [];
    for (let i = 0; i < this.width; i += 1) {
      const other = this.step(place, i, by);
      if (other >= 0) found.push(other);
    }
    return found;
  }

  /** Store an answer: suppressed rows (null: unchanged), the limit, the levels; mark the nodes that meet it. */
  answer({ suppressed, limit, low, high }) {
    if (suppressed) this.suppressed = suppressed;
    this.limit = limit;
    this.bound(low, high);
    const { count, inside, meets } = this;
    for (let place = 0; place < count; place += 1)
      meets[place] = this.suppressed[place] <= limit ? 1 + inside[place] : 0;
    if (count <= 250000) this.markLowest();
  }

  /** Mark the nodes within levels, unless these are unchanged. */
  bound(low, high) {
    const bounds = `${low} ${high}`;
    if (bounds === this.bounds) return;
    this.bounds = bounds;
    const { count, width, levels, inside } = this;
    for (let place = 0, at = 0; place < count; place += 1) {
      let within = 1;
      for (let i = 0; i < width; i += 1, at += 1) if (levels[at] < low[i] || levels[at] > high[i]) within = 0;
      inside[place] = within;
    }
  }

  /** Mark the boundary of the region: nodes that meet the request while no direct predecessor does. */
  markLowest() {
    const { count, meets } = this;
    for (let place = 0; place < count; place += 1) {
      if (meets[place] >= 2) meets[place] = this.isLowest(place) ? 3 : 2;
    }
  }

  isLowest(place) {
    const { width, meets } = this;
    for (let i = 0; i < width; i += 1) {
      const below = this.step(place, i, -1);
      if (below >= 0 && meets[below] >= 2) return false;
    }
    return true;
  }

  meetsRequest(place) {
    return this.meets[place] >= 2;
  }
}
