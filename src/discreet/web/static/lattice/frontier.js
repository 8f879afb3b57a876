// The frontier as a plot: loss or cost on the x axis, suppressed rows on the y axis; hover and choice follow the
// lattice.

import { table } from "../components/table.js";
import { clear, h } from "../dom.js";
import { costText, number, share } from "../format.js";

const [LEFT, RIGHT, TOP, BOTTOM] = [46, 12, 12, 36];
const MARKS = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1];

/** A plot of some nodes; `onHover(place)`, `onChoose(place)`. */
export class FrontierPlot {
  constructor({ scale, onHover, onChoose, announce }) {
    this.scale = scale;
    this.onHover = onHover;
    this.onChoose = onChoose;
    this.places = [];
    this.hovered = -1;
    this.chosen = -1;
    this.canvas = h("canvas", {
      class: "frontier-plot",
      tabindex: "0",
      role: "application",
      aria: {
        label: "Frontier: loss or cost against suppressed rows. Arrow keys go from node to node, Enter chooses one.",
        roledescription: "plot",
      },
    });
    this.words = h("p", { class: "small muted frontier-words" });
    this.rows = h("div", { class: "scroll-x", tabindex: "0", role: "region", aria: { label: "Frontier as a table" } });
    this.details = h(
      "details",
      { class: "behind", on: { toggle: () => this.fillTable() } },
      h("summary", {}, "Data table"),
      this.rows,
    );
    this.element = h("figure", { class: "frontier" }, this.canvas, this.words, this.details);
    this.canvas.addEventListener("pointermove", (event) => this.point(this.near(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.canvas.addEventListener("click", (event) => {
      const place = this.near(event);
      if (place >= 0) onChoose(place);
    });
    this.canvas.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1 }[event.key];
      if (event.key === "Enter" && this.hovered >= 0) onChoose(this.hovered);
      if (!by || this.places.length === 0) return;
      event.preventDefault();
      const from = this.places.indexOf(this.hovered >= 0 ? this.hovered : this.chosen);
      const to = this.places[Math.min(this.places.length - 1, Math.max(0, from + by))];
      this.point(to);
      announce(this.sentence(to));
    });
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.canvas);
  }

  close() {
    this.watch.disconnect();
  }

  /** Show places. `cost` has a name, and the parts of each place's cost; null for height and loss. */
  show(nodes, places, chosen, cost) {
    this.nodes = nodes;
    this.name = cost?.name ?? "loss";
    this.goals = cost?.name ?? "height, loss";
    this.costs = cost && new Map(places.map((place, i) => [place, cost.costs[i]]));
    this.places = [...places].sort((a, b) => this.priceOf(a) - this.priceOf(b));
    this.chosen = chosen;
    this.hovered = -1;
    this.draw();
    if (this.details.open) this.fillTable();
  }

  choose(place) {
    this.chosen = place;
    this.draw();
  }

  /** Return the price of a place: its loss, or the first part of its cost. */
  priceOf(place) {
    return this.costs?.get(place)?.[0] ?? this.nodes.losses[place];
  }

  /** Return true if a place has a price: with a cost only the frontier's places do. */
  isPriced(place) {
    return place >= 0 && (!this.costs || this.costs.has(place));
  }

  priceText(place) {
    return costText(this.costs?.get(place) ?? this.nodes.losses[place]);
  }

  sentence(place) {
    const { nodes } = this;
    return (
      `Height ${nodes.heightOf(place)}, ${this.name} ${this.priceText(place)}, ` +
      `${number(nodes.suppressed[place])} rows suppressed ` +
      `(${share(nodes.suppressed[place], nodes.rows)})${nodes.meetsRequest(place) ? ", meets the request" : ""}`
    );
  }

  point(place) {
    if (place === this.hovered) return;
    this.hovered = place;
    this.onHover(place);
    this.draw();
  }

  /** Highlight the place under the lattice's pointer. */
  highlight(place) {
    this.hovered = this.places.includes(place) ? place : -1;
    this.draw();
  }

  at(place) {
    const { nodes, width, height } = this;
    const x = LEFT + ((width - LEFT - RIGHT) * (this.priceOf(place) - this.least)) / (this.most - this.least);
    const y = TOP + (height - TOP - BOTTOM) * (1 - Math.sqrt(nodes.suppressed[place] / Math.max(1, nodes.rows)));
    return [x, y];
  }

  near(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let found = -1;
    let least = 18;
    for (const place of this.places) {
      const [px, py] = this.at(place);
      const distance = Math.hypot(px - x, py - y);
      if (distance < least) [found, least] = [place, distance];
    }
    return found;
  }

  draw() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!this.nodes || width < 20) return;
    Object.assign(this, { width, height });
    const ratio = Math.min(3, devicePixelRatio || 1);
    if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const { nodes, scale, places } = this;
    this.scaleTo(places.map((place) => this.priceOf(place)));
    this.drawAxes(pen);
    for (const place of places) {
      const meets = nodes.meetsRequest(place);
      this.dot(pen, place, 3.6, meets ? scale.texts.meets[0] : scale.texts.beyond[nodes.inside[place] ? 40 : 20]);
    }
    if (this.isPriced(this.chosen)) this.dot(pen, this.chosen, 5.5, scale["lattice-chosen"]);
    if (this.hovered >= 0) this.dot(pen, this.hovered, 5.5, scale.ink);
    this.words.textContent =
      this.hovered >= 0
        ? this.sentence(this.hovered)
        : `${number(places.length)} nodes are not dominated in ${this.goals} and suppression; ` +
          `${number(places.filter((p) => nodes.meetsRequest(p)).length)} meet the request.`;
  }

  /** Set ends and steps of the axis: from 0 for a loss; round numbers around the costs otherwise. */
  scaleTo(prices) {
    const [low, high] = this.costs && prices.length > 0 ? [Math.min(0, ...prices), Math.max(...prices)] : [0, 0];
    if (!this.costs) {
      this.least = 0;
      this.most = Math.max(0.1, Math.ceil(10 * Math.max(0, ...prices)) / 10);
      this.step = this.most > 0.6 ? 0.2 : this.most > 0.25 ? 0.1 : 0.05;
      return;
    }
    const rough = (high - low || 1) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    this.step = power * [1, 2, 5, 10].find((by) => by * power >= rough);
    this.least = this.step * Math.floor(low / this.step);
    this.most = Math.max(this.least + this.step, this.step * Math.ceil(high / this.step));
  }

  dot(pen, place, radius, colour) {
    const [x, y] = this.at(place);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.fillStyle = colour;
    pen.fill();
    pen.lineWidth = 1;
    pen.strokeStyle = this.scale.surface;
    pen.stroke();
  }

  drawAxes(pen) {
    const { width, height, scale, nodes } = this;
    const foot = height - BOTTOM;
    const y = (part) => TOP + (foot - TOP) * (1 - Math.sqrt(part));
    pen.font = '11px system-ui, "Liberation Sans", sans-serif';
    pen.fillStyle = scale["ink-2"];
    pen.strokeStyle = scale.line;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const mark of MARKS) {
      line(pen, LEFT, y(mark), width - RIGHT, y(mark));
      pen.fillText(`${100 * mark}%`, LEFT - 6, y(mark));
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const { step, least, most } = this;
    for (let i = 0; least + i * step <= most + step * 1e-6; i += 1) {
      const x = LEFT + ((width - LEFT - RIGHT) * i * step) / (most - least);
      line(pen, x, TOP, x, foot);
      const mark = least + i * step;
      pen.fillText(this.costs ? compact(mark) : mark.toFixed(step < 0.1 ? 2 : 1), x, foot + 5);
    }
    pen.fillText(this.name, (LEFT + width - RIGHT) / 2, foot + 20);
    const limit = y(Math.min(1, nodes.limit / Math.max(1, nodes.rows)));
    pen.strokeStyle = scale.texts.meets[0];
    pen.setLineDash([5, 4]);
    pen.lineWidth = 1.5;
    line(pen, LEFT, limit, width - RIGHT, limit);
    pen.setLineDash([]);
  }

  fillTable() {
    if (!this.details.open || !this.nodes) return;
    const { nodes } = this;
    clear(
      this.rows,
      table({
        caption: "The frontier",
        dense: true,
        rows: this.places,
        onSelect: (place) => this.onChoose(place),
        selected: (place) => place === this.chosen,
        columns: [
          { key: "levels", title: "levels", head: true, render: (place) => nodes.levelsOf(place).join(" ") },
          {
            key: "loss",
            title: this.name,
            number: true,
            render: (place) => (this.costs ? this.priceText(place) : nodes.losses[place].toFixed(3)),
            sort: (place) => this.priceOf(place),
          },
          {
            key: "suppressed",
            title: "suppressed",
            number: true,
            render: (place) => number(nodes.suppressed[place]),
            sort: (place) => nodes.suppressed[place],
          },
        ],
      }),
    );
  }
}

/** Format a number in few characters: 250M, 1.5k, 0.25. */
function compact(value) {
  return new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }).format(value);
}

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, Math.round(y1) + 0.5);
  pen.lineTo(x2, Math.round(y2) + 0.5);
  pen.stroke();
}
