// Every node as a dot: detail on the x axis, mean risk on the y axis (logarithmic).

import { onThemeChange, token } from "../colour.js";
import { clear, h } from "../dom.js";

const TICKS = [1, 10, 100, 1000, 10000, 100000, 1000000];
const MARGIN = { left: 70, right: 18, top: 14, bottom: 44 };
const APART = 24; // minimum pixels between letters

/** The plot; calls `onChoose(contender)` when a letter is pressed. */
export class Scatter {
  constructor({ onChoose }) {
    this.onChoose = onChoose;
    this.dots = null;
    this.letters = [];
    this.canvas = h("canvas", { aria: { hidden: true } });
    this.axes = h("div", { class: "scatter-axes", aria: { hidden: true } });
    this.marks = h("div", { class: "scatter-letters" });
    this.element = h("figure", { class: "scatter" }, this.canvas, this.axes, this.marks);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.element);
    this.unwatch = onThemeChange(() => this.draw());
  }

  close() {
    this.watch.disconnect();
    this.unwatch();
  }

  setDots(dots) {
    this.dots = dots;
    this.draw();
  }

  setLetters(candidates, chosen) {
    this.candidates = candidates;
    this.chosen = chosen;
    this.draw();
  }

  /** Return the scales of detail and risk in pixels. */
  scales() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const known = (this.candidates ?? []).map((row) => row.figures).filter((each) => each?.found > 0);
    const found = [...(this.dots?.found ?? []), ...known.map((each) => each.found)];
    const detail = [...(this.dots?.detail ?? []), ...known.map((each) => each.detail)];
    let [low, high] = [1, 0];
    for (const value of found) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    const most = Math.min(1, Math.ceil(10 * detail.reduce((a, b) => Math.max(a, b), 0.1) + 0.3) / 10);
    const [bottom, top] = [Math.log10(Math.min(low, high) || 0.001) - 0.12, Math.log10(high || 1) + 0.18];
    return {
      width,
      height,
      low,
      high,
      most,
      x: (value) => MARGIN.left + (value / most) * (width - MARGIN.left - MARGIN.right),
      y: (value) =>
        MARGIN.top + ((top - Math.log10(value)) / (top - bottom || 1)) * (height - MARGIN.top - MARGIN.bottom),
    };
  }

  draw() {
    if (!this.element.clientWidth) return;
    const at = this.scales();
    this.drawDots(at);
    this.drawAxes(at);
    this.drawLetters(at);
  }

  drawDots({ width, height, x, y }) {
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const draw = this.canvas.getContext("2d");
    draw.scale(scale, scale);
    if (!this.dots) return;
    const { detail, found, meets, frontier } = this.dots;
    const few = detail.length < 400;
    for (const kind of [0, 1]) {
      draw.fillStyle = token(kind ? "--meets" : "--over-near");
      draw.globalAlpha = kind ? 1 : few ? 0.8 : 0.45;
      const size = few ? 5 : kind ? 3 : 2;
      for (let i = 0; i < detail.length; i += 1)
        if (meets[i] === kind) draw.fillRect(x(detail[i]) - size / 2, y(found[i]) - size / 2, size, size);
    }
    draw.globalAlpha = 1;
    draw.strokeStyle = token("--frontier");
    draw.lineWidth = 1.75;
    draw.beginPath();
    frontier.forEach((place, i) => {
      const [px, py] = [x(detail[place]), y(found[place])];
      if (i === 0) draw.moveTo(px, py);
      else {
        draw.lineTo(px, y(found[frontier[i - 1]]));
        draw.lineTo(px, py);
      }
    });
    draw.stroke();
  }

  drawAxes({ width, height, low, high, most, x, y }) {
    const rows = TICKS.filter((n) => 1 / n >= low / 1.4 && 1 / n <= high * 1.6).map((n) =>
      h(
        "div",
        { class: "tick", style: { top: `${y(1 / n)}px` } },
        h("span", {}, n === 1 ? "everybody" : `1 in ${n.toLocaleString("en")}`),
      ),
    );
    const columns = [0, 0.2, 0.4, 0.6, 0.8, 1]
      .filter((value) => value <= most + 1e-9)
      .map((value) =>
        h(
          "span",
          { class: "mark", style: { left: `${(100 * x(value)) / width}%`, top: `${height - 40}px` } },
          `${100 * value} %`,
        ),
      );
    clear(
      this.axes,
      rows,
      columns,
      h("span", { class: "title y" }, "mean risk"),
      h("span", { class: "title x" }, "detail kept →"),
    );
  }

  drawLetters(at) {
    const placed = [];
    const known = (this.candidates ?? []).filter((row) => row.figures?.found > 0 && row.figures.detail !== null);
    clear(
      this.marks,
      known.map((row) => {
        const spot = apart([at.x(row.figures.detail), at.y(row.figures.found)], placed);
        placed.push(spot);
        return h(
          "button",
          {
            class: `letter ${row.kind} ${row.letter === this.chosen ? "chosen" : ""}`,
            type: "button",
            title: row.name,
            aria: { label: `${row.letter}: ${row.name}. Show its rows`, pressed: row.letter === this.chosen },
            style: { left: `${(100 * spot[0]) / at.width}%`, top: `${spot[1]}px` },
            on: { click: () => this.onChoose(row) },
          },
          row.letter,
        );
      }),
    );
  }
}

/** Return the free position nearest to a letter's point, away from the letters already placed. */
function apart([x, y], placed) {
  const clash = (px, py) => placed.some(([ox, oy]) => Math.hypot(px - ox, py - oy) < APART);
  for (let radius = 0; radius < 200; radius += 6)
    for (let turn = 0; turn < (radius ? 12 : 1); turn += 1) {
      const angle = (turn / 12) * 2 * Math.PI;
      const [px, py] = [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
      if (!clash(px, py)) return [px, py];
    }
  return [x, y];
}
