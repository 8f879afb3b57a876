// The lattice on canvas: two layers, nodes and marks, so that a pointer's move repaints only the marks.

import { h, uid } from "../dom.js";
import { number, share } from "../format.js";
import { range } from "./aggregate.js";
import { Cells } from "./cells.js";
import { DISC, discRadius, drawNodes, point } from "./draw.js";
import { bounded, interact } from "./interact.js";
import { BandLayout } from "./layout.js";
import { drawMarks } from "./marks.js";
import { SuppressionScale } from "./scale.js";

const NOTHING = { chosen: -1, hovered: -1, answer: -1, isAnswer: true, offers: [], frontier: null, from: null };
const WAY = 180; // milliseconds in which the answer moves to its new node
const TRACE = 600; // milliseconds for which a ring remains at the old one

/** A chart of `LatticeNodes`; `onChoose(place)`, `onHover(place)`, `onReset()`. */
export class LatticeChart {
  constructor({ signal, onChoose, onHover = () => {}, onReset = () => {} }) {
    this.onChoose = onChoose;
    this.onHover = onHover;
    this.onReset = onReset;
    this.nodes = null;
    this.marks = { ...NOTHING };
    this.corners = () => ({});
    this.view = { scale: 1, x: 0, y: 0 };
    const help = uid("lattice-help");
    this.base = h("canvas", { class: "lattice-nodes", aria: { hidden: true } });
    this.surface = h("canvas", {
      class: "lattice-marks",
      tabindex: "0",
      role: "application",
      aria: { label: "Lattice of nodes", describedby: help, roledescription: "lattice" },
    });
    this.tip = h("div", { class: "lattice-tip", hidden: true });
    this.element = h(
      "div",
      { class: "lattice-area" },
      this.base,
      this.surface,
      this.tip,
      h(
        "p",
        { class: "visually-hidden", id: help },
        "Rows are heights, the least detail on top. Arrow up and down go to the neighbour that suppresses fewest " +
          "rows, left and right move within the height. " +
          "A digit raises that attribute by a level, with Shift it lowers it. Plus, minus and 0 zoom. Escape " +
          "returns to the answer.",
      ),
    );
    this.cells = new Cells();
    this.surface.lattice = this;
    this.scale = new SuppressionScale(() => this.draw());
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(this.element);
    interact(this, signal);
    signal.addEventListener("abort", () => this.close(), { once: true });
  }

  close() {
    this.watch.disconnect();
    this.scale.stop();
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.going);
    clearTimeout(this.trace);
  }

  setNodes(nodes) {
    this.nodes = nodes;
    this.marks = { ...NOTHING };
    this.resize();
  }

  /** Set the marks: the request's own node, the answers, the frontier, the chosen node. */
  mark(marks) {
    this.marks = { ...this.marks, ...marks };
  }

  /** Show the answer at a place: it moves there from its old place, where a ring remains for a while. */
  answerAt(place, isAnswer) {
    const { answer } = this.marks;
    Object.assign(this.marks, { answer: place, isAnswer });
    if (answer === place || answer < 0 || place < 0 || !this.layout || this.view.scale !== 1) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const [from, to] = [this.marks.at ?? this.positionOf(answer), this.positionOf(place)];
    const start = performance.now();
    this.marks.old = from;
    clearTimeout(this.trace);
    this.trace = setTimeout(() => {
      this.marks.old = null;
      this.drawSoon(true);
    }, TRACE);
    cancelAnimationFrame(this.going);
    const go = (now) => {
      const part = Math.min(1, Math.max(0, (now - start) / WAY));
      const eased = 1 - (1 - part) ** 3;
      this.marks.at = part < 1 ? [0, 1].map((i) => from[i] + eased * (to[i] - from[i])) : null;
      this.drawMarks();
      if (part < 1) this.going = requestAnimationFrame(go);
    };
    this.marks.at = null;
    if (!still) {
      this.marks.at = from;
      this.going = requestAnimationFrame(go);
    }
  }

  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    if (width < 10 || height < 10) return;
    this.width = width;
    this.height = height;
    this.ratio = Math.min(3, Math.max(1, devicePixelRatio || 1));
    for (const canvas of [this.base, this.surface]) {
      const [wide, high] = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
      if (canvas.width !== wide) canvas.width = wide;
      if (canvas.height !== high) canvas.height = high;
    }
    this.view = bounded(this.view, width, height);
    this.place();
    this.draw();
  }

  place() {
    if (!this.nodes || !this.width) return;
    const { corners, middle, from } = this.corners(this.width, this.height);
    this.marks.from = from ?? null;
    this.layout = new BandLayout(this.nodes.starts, this.width, this.height, {
      zoom: this.view.scale,
      widths: this.nodes.widths,
      corners,
      middle,
    });
  }

  draw() {
    if (!this.layout || !this.nodes) return;
    cancelAnimationFrame(this.frame); // the pending frame is drawn now
    Object.assign(this, { frame: null, all: false });
    const printing = Boolean(document.documentElement.dataset.printing);
    this.base.hidden = printing;
    if (!printing) drawNodes(this.base, this.cells, this.layout, this.nodes, this.scale, this.view, this.ratio);
    this.drawMarks();
    if (printing) this.drawUnderMarks();
  }

  /** Draw nodes for a printer as strokes on the canvas of the marks: a canvas with pixel data prints no strokes. */
  drawUnderMarks() {
    const pen = this.surface.getContext("2d");
    pen.globalCompositeOperation = "destination-over";
    const { layout, nodes, scale, view, ratio } = this;
    drawNodes(this.surface, this.cells, layout, nodes, scale, view, ratio, { printing: true });
    pen.globalCompositeOperation = "source-over";
  }

  drawMarks() {
    if (!this.layout || !this.nodes) return;
    drawMarks(this.surface, this.layout, this.nodes, this.scale, this.view, this.ratio, this.marks);
  }

  /** Draw once before the next frame, for any number of calls. */
  drawSoon(marksAlone = false) {
    this.all = this.all || !marksAlone;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      if (this.all) this.draw();
      else this.drawMarks();
      this.all = false;
    });
  }

  // --- where things are ---

  positionOf(place) {
    return point(this.layout, this.nodes, this.view, place);
  }

  /** Return the painted colour of a node as [red, green, blue, opacity]: next to its label if it has one. */
  colourOf(place) {
    const pen = this.base.getContext("2d");
    const [x, middle] = this.positionOf(place);
    const y = middle + (this.layout.size * this.view.scale >= DISC ? 0.62 * discRadius(this.layout, this.view) : 0);
    return [...pen.getImageData(Math.floor(x * this.ratio), Math.floor(y * this.ratio), 1, 1).data];
  }

  cellAt(x, y) {
    return this.layout?.at((x - this.view.x) / this.view.scale, (y - this.view.y) / this.view.scale) ?? null;
  }

  // --- pointer ---

  hoverAt(x, y, kind) {
    if (kind === "touch") return;
    const found = this.cellAt(x, y);
    if (!found) {
      this.hover(-1);
      return;
    }
    const [first, last] = this.layout.placesOf(...found);
    this.hover(this.best(first, last), last - first > 1 ? [first, last] : null);
  }

  hover(place, group = null) {
    if (place === this.marks.hovered) return;
    this.marks.hovered = place;
    this.surface.classList.toggle("over", place >= 0);
    this.showTip(place, group);
    this.onHover(place);
    this.drawSoon(true);
  }

  /** Point at a node from a plot or table, without a call of the listener. */
  point(place) {
    this.marks.hovered = place;
    this.showTip(place, null);
    this.drawSoon(true);
  }

  /** Return the node of a cell that suppresses fewest rows. */
  best(first, last) {
    let found = first;
    for (let place = first; place < last; place += 1) {
      if (this.nodes.suppressed[place] < this.nodes.suppressed[found]) found = place;
    }
    return found;
  }

  chooseAt(x, y, kind) {
    const found = this.cellAt(x, y) ?? (kind === "touch" ? this.near(x, y) : null);
    if (!found) return;
    const [first, last] = this.layout.placesOf(...found);
    this.choose(this.best(first, last));
  }

  near(x, y) {
    for (let reach = 4; reach <= 20; reach += 4) {
      for (const [dx, dy] of [
        [reach, 0],
        [-reach, 0],
        [0, reach],
        [0, -reach],
      ]) {
        const found = this.cellAt(x + dx, y + dy);
        if (found) return found;
      }
    }
    return null;
  }

  showTip(place, group) {
    if (place < 0 || !this.layout) {
      this.tip.hidden = true;
      return;
    }
    const { nodes } = this;
    const words = [
      h("b", {}, `Height ${nodes.heightOf(place)}`),
      h("span", {}, nodes.attributes.map((a, i) => `${a.name} ${nodes.levelsOf(place)[i]}`).join(", ")),
      h(
        "span",
        { class: nodes.meetsRequest(place) ? "good" : "" },
        `${number(nodes.suppressed[place])} suppressed ` +
          `(${share(nodes.suppressed[place], nodes.rows)})${nodes.meetsRequest(place) ? ", meets the request" : ""}`,
      ),
    ];
    if (group) {
      const { least, most, meeting, number: many } = range(nodes, ...group);
      words.push(
        h(
          "span",
          {},
          `The best of ${number(many)} nodes here: ${number(least)} to ${number(most)} rows, ${number(meeting)} ` +
            `meet the request. Zoom in to separate them.`,
        ),
      );
    }
    this.tip.replaceChildren(...words);
    this.tip.hidden = false;
    const [x, y] = this.positionOf(place);
    const { offsetWidth: wide, offsetHeight: high } = this.tip;
    const left = Math.min(Math.max(4, x + 14), Math.max(4, this.width - wide - 4));
    const top = y + 16 + high > this.height ? Math.max(4, y - high - 14) : y + 16;
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  // --- view ---

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const { view } = this;
    const scale = Math.min(60, Math.max(1, view.scale * factor));
    const part = scale / view.scale;
    this.view = bounded({ scale, x: x - (x - view.x) * part, y: y - (y - view.y) * part }, this.width, this.height);
    this.afterZoom();
  }

  afterZoom() {
    if (this.layout?.group > 1 || this.wasGrouped) {
      this.place();
      this.wasGrouped = true;
    }
    this.tip.hidden = true;
    this.element.classList.toggle("zoomed", this.view.scale > 1);
    this.drawSoon();
  }

  zoomAtChosen(factor) {
    const place = this.marks.chosen;
    this.zoom(factor, ...(place >= 0 ? this.positionOf(place) : [this.width / 2, this.height / 2]));
  }

  pan(dx, dy) {
    this.view = bounded({ ...this.view, x: this.view.x + dx, y: this.view.y + dy }, this.width, this.height);
    this.tip.hidden = true;
    this.drawSoon();
  }

  fit() {
    this.view = { scale: 1, x: 0, y: 0 };
    this.afterZoom();
  }

  /** Scroll a node into view that is outside after zooming. */
  reveal(place) {
    const [x, y] = this.positionOf(place);
    const margin = 30;
    const dx = x < margin ? margin - x : x > this.width - margin ? this.width - margin - x : 0;
    const dy = y < margin ? margin - y : y > this.height - margin ? this.height - margin - y : 0;
    if (this.view.scale > 1 && (dx || dy)) this.pan(dx, dy);
  }

  // --- walking ---

  choose(place) {
    this.marks.chosen = place;
    this.reveal(place);
    this.drawSoon(true);
    this.onChoose(place);
  }

  walk(by) {
    const from = Math.max(0, this.marks.chosen);
    const [x] = this.positionOf(from);
    const found = this.nodes.neighbours(from, by);
    if (found.length === 0) return;
    const key = (place) => [this.nodes.suppressed[place], Math.abs(this.positionOf(place)[0] - x)];
    this.choose(
      found.reduce((best, place) => {
        const [a, b] = [key(place), key(best)];
        return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? place : best;
      }),
    );
  }

  walkSideways(by) {
    const from = Math.max(0, this.marks.chosen);
    const height = this.nodes.heightOf(from);
    const to = from + by;
    if (to >= this.nodes.starts[height] && to < this.nodes.starts[height + 1]) this.choose(to);
  }

  walkAttribute(attribute, by) {
    if (attribute >= this.nodes.width) return;
    const to = this.nodes.step(Math.max(0, this.marks.chosen), attribute, by);
    if (to >= 0) this.choose(to);
  }
}
