// Colours of nodes. Nodes that meet the request have their own hue; above the limit colour depends on suppression, so
// that the region that meets the request is visible for any limit. Outside the requested levels colours are faded.

import { onThemeChange, token } from "../colour.js";

const STEPS = 128;
const FADED = 0.36;
const numbers = (colour) =>
  colour
    .match(/[\d.]+/g)
    .slice(0, 3)
    .map(Number);
const packed = ([r, g, b], alpha = 255) =>
  ((alpha << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
const mixed = (a, b, part) => a.map((value, i) => value + part * (b[i] - value));

/** The scale of the current theme; `onChange` is called after the theme has changed. */
export class SuppressionScale {
  constructor(onChange) {
    this.resolve();
    this.stop = onThemeChange(() => {
      this.resolve();
      onChange();
    });
  }

  resolve() {
    const surface = numbers(token("--surface"));
    const stops = [0, 1, 2, 3, 4].map((i) => numbers(token(`--lattice-beyond-${i}`)));
    const table = Array.from({ length: STEPS }, (_, i) => {
      const at = (i / (STEPS - 1)) * (stops.length - 1);
      const low = Math.min(stops.length - 2, Math.floor(at));
      return mixed(stops[low], stops[low + 1], at - low);
    });
    const colours = {
      beyond: table,
      meets: [numbers(token("--lattice-meets"))],
      lowest: [numbers(token("--lattice-lowest"))],
    };
    this.pixels = {};
    this.texts = {};
    for (const [name, list] of Object.entries(colours)) {
      for (const [kind, part] of [
        ["", 0],
        ["Faded", 1 - FADED],
      ]) {
        const found = list.map((colour) => mixed(colour, surface, part));
        this.pixels[name + kind] = Uint32Array.from(found, (colour) => packed(colour));
        this.texts[name + kind] = found.map((colour) => `rgb(${colour.map(Math.round).join(", ")})`);
      }
    }
    this.some = mixed(numbers(token("--lattice-meets")), table[30], 0.45);
    this.pixels.some = Uint32Array.of(packed(this.some));
    this.texts.some = [`rgb(${this.some.map(Math.round).join(", ")})`];
    for (const name of ["ink", "ink-2", "surface", "line-strong", "accent", "paper", "answer", "hatch"])
      this[name] = token(`--${name}`);
    this.edge = token("--chip-line");
    this.font = getComputedStyle(document.body).fontFamily;
  }

  /** Return the key of a cell's colour: the name of a list, and the position in it. */
  key({ meets, inside, suppressed, share }, limit, rows) {
    if (meets >= 2) return share < 0.5 ? ["some", 0] : [meets === 3 && share === 1 ? "lowest" : "meets", 0];
    if (meets === 1) return ["meetsFaded", 0];
    const part = Math.sqrt(Math.min(1, Math.max(0, (suppressed - limit) / Math.max(1, rows - limit))));
    return [inside ? "beyond" : "beyondFaded", Math.round(part * (STEPS - 1))];
  }

  /** Return the colour of one node as a pixel, like `key` but without an object per node. */
  pixelOf(nodes, place) {
    const kind = nodes.meets[place];
    const { pixels } = this;
    if (kind === 2) return pixels.meets[0];
    if (kind === 3) return pixels.lowest[0];
    if (kind === 1) return pixels.meetsFaded[0];
    const part = Math.sqrt((nodes.suppressed[place] - nodes.limit) / Math.max(1, nodes.rows - nodes.limit));
    const at = Math.round(Math.min(1, part) * (STEPS - 1));
    return nodes.inside[place] ? pixels.beyond[at] : pixels.beyondFaded[at];
  }
}
