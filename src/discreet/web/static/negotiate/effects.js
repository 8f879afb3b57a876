// Preview of the current node: distributions, two columns together, one count query.

import { onThemeChange, token } from "../colour.js";
import { h } from "../dom.js";
import { QuestionView } from "./question.js";
import { TogetherView } from "./together.js";
import { levelWords, spoken } from "./words.js";

const HEIGHT = 96;
const SHOWN = 9; // maximum number of drawn attributes: those with most values

/** The band below the stage; `onLooks()` when the requested effects change. */
export class Effects {
  constructor(facts, { onLooks, signal }) {
    this.facts = facts;
    this.onLooks = onLooks;
    const at = facts.attributes.map((_, i) => i);
    const bins = (i) => facts.attributes[i].drawn.before.length;
    this.offsets = [];
    at.reduce((sum, i) => {
      this.offsets[i] = sum;
      return sum + bins(i);
    }, 0);
    const chosen = [...at].sort((a, b) => bins(b) - bins(a)).slice(0, SHOWN);
    this.columns = chosen.map((i) => this.column(i));
    this.together = new TogetherView(facts, { onChange: onLooks });
    this.question = new QuestionView(facts, { onChange: onLooks });
    const key = (kind, words) => h("span", {}, h("i", { class: kind, aria: { hidden: true } }), words);
    const left = facts.attributes.length - chosen.length;
    this.element = h(
      "section",
      { class: "effects", tabindex: "0", aria: { label: "Published distributions" } },
      h(
        "div",
        { class: "effects-distributions" },
        h(
          "div",
          { class: "effects-head" },
          h("h2", {}, "Published distributions"),
          h(
            "p",
            { class: "keys" },
            key("published", "published"),
            key("original", "original"),
            key("hidden", "not shown"),
            left > 0 && h("span", {}, `${left} more columns`),
          ),
        ),
        h(
          "div",
          { class: "strip" },
          this.columns.map((column) => column.element),
        ),
      ),
      this.together.element,
      this.question.element,
    );
    this.addDots();
    // Update after a layout: reading a width while an answer is shown would force a layout.
    this.watch = new ResizeObserver(() => {
      for (const column of this.columns) column.wide = column.canvas.clientWidth;
      this.draw();
    });
    for (const { canvas } of this.columns) this.watch.observe(canvas);
    const stop = onThemeChange(() => {
      this.colours = null;
      this.draw();
    });
    signal.addEventListener("abort", () => {
      stop();
      this.watch.disconnect();
    });
  }

  /** Add dots for the two views that fit on a phone at a time. */
  addDots() {
    const many = Math.ceil((this.columns.length + 2) / 2);
    const dots = Array.from({ length: many }, () => h("i", {}));
    this.dots = h("p", { class: "dots", aria: { hidden: true } }, dots);
    const tell = () => {
      const { scrollLeft, scrollWidth, clientWidth } = this.element;
      const at = Math.round((scrollLeft / Math.max(1, scrollWidth - clientWidth)) * (many - 1));
      dots.forEach((dot, i) => dot.classList.toggle("here", i === at));
    };
    this.element.addEventListener("scroll", tell, { passive: true });
    tell();
  }

  /** Return the effects to send with the answers. */
  looks() {
    return { together: this.together.query(), question: this.question.query() };
  }

  column(i) {
    const { name, drawn } = this.facts.attributes[i];
    const canvas = h("canvas", { role: "img" });
    const words = h("span", { class: "words" });
    const title = h("b", {}, spoken(name));
    const wide = drawn.before.length ** (drawn.numeric ? 0.5 : 0.33);
    const element = h(
      "figure",
      { style: { flex: `${wide.toFixed(2)} 1 0` } },
      h("figcaption", {}, title),
      canvas,
      words,
    );
    return { i, canvas, words, title, element, wide: 0 };
  }

  /** Show an answer: the effects sent with it, else those of the last one remain. */
  show(answer) {
    const { arrays, effects, node } = answer;
    this.levels = this.facts.attributes.map(({ name }) => node.levels[name]);
    if (this.together.begin(node.levels) | this.question.begin(node.levels)) this.onLooks();
    if (arrays.published) this.published = arrays.published;
    if (effects) {
      this.together.show(effects.together);
      this.question.show(effects.question);
    }
    this.draw();
  }

  draw() {
    if (!this.published) return;
    this.colours ??= Object.fromEntries(["series-1", "ink", "hatch", "ink-2", "line"].map((n) => [n, token(`--${n}`)]));
    const ratio = Math.min(3, Math.max(1, devicePixelRatio || 1));
    for (const column of this.columns) if (column.wide > 0) this.drawColumn(column, ratio);
  }

  drawColumn({ i, canvas, words, title, wide }, ratio) {
    const attribute = this.facts.attributes[i];
    const { drawn } = attribute;
    const level = this.levels[i];
    const hidden = level === attribute.height && level > 0;
    const levelText = levelWords(attribute, level);
    if (words.textContent !== levelText) {
      words.textContent = levelText;
      title.classList.toggle("hidden-one", hidden);
      canvas.setAttribute("aria-label", `${spoken(attribute.name)}, ${levelText}: before and after`);
    }
    const [across, high] = [wide, HEIGHT].map((side) => Math.round(side * ratio));
    if (canvas.width !== across) canvas.width = across;
    if (canvas.height !== high) canvas.height = high;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, HEIGHT);
    const { before } = drawn;
    const from = this.offsets[i];
    const after = this.published.subarray(from, from + before.length);
    drawBars(pen, { before, after, starts: drawn.starts[level], hidden, wide, colours: this.colours });
  }
}

/** Draw bars of the published rows, with the outline of the original. */
function drawBars(pen, { before, after, starts, hidden, wide, colours }) {
  let most = 1;
  for (const each of before) most = Math.max(most, each);
  for (const each of after) most = Math.max(most, each);
  const step = (wide - 1) / before.length;
  const base = HEIGHT - 1;
  const y = (value) => base - ((base - 2) * value) / most;
  const groups = starts ?? before.map((_, i) => i);
  const space = step * (before.length / groups.length) > 5 ? 1 : 0;
  pen.fillStyle = hidden ? hatch(pen, colours) : colours["series-1"];
  groups.forEach((start, place) => {
    const end = groups[place + 1] ?? before.length;
    const top = y(after[start]);
    pen.fillRect(start * step, top, Math.max(0.6, (end - start) * step - space), base - top);
  });
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 1;
  pen.globalAlpha = 0.8;
  pen.beginPath();
  pen.moveTo(0.5, base);
  before.forEach((value, i) => {
    const top = Math.round(y(value)) + 0.5;
    pen.lineTo(i * step + 0.5, top);
    pen.lineTo((i + 1) * step - (step > 8 ? 1 : 0) + 0.5, top);
    if (step > 8) {
      pen.lineTo((i + 1) * step - 0.5, base);
      pen.lineTo((i + 1) * step + 0.5, base);
    }
  });
  pen.lineTo(wide - 0.5, base);
  pen.stroke();
  pen.globalAlpha = 1;
}

function hatch(pen, colours) {
  if (colours.pattern) return colours.pattern;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const ink = tile.getContext("2d");
  ink.strokeStyle = colours.hatch;
  ink.lineWidth = 1;
  ink.beginPath();
  for (const x of [-6, 0, 6]) {
    ink.moveTo(x - 1, 7);
    ink.lineTo(x + 7, -1);
  }
  ink.stroke();
  colours.pattern = pen.createPattern(tile, "repeat");
  return colours.pattern;
}
