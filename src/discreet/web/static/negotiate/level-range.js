// The levels of one attribute that an answer may use.

import { h } from "../dom.js";
import { number } from "../format.js";
import { range } from "../numbers.js";

/** The least and the greatest level of one attribute: two thumbs, two number fields, and what they show. */
export class LevelRange {
  constructor(attribute, onInput) {
    this.name = attribute.name;
    this.height = attribute.height;
    this.attribute = attribute;
    this.low = 0;
    this.high = attribute.height;
    const made = (words, kind) =>
      h("input", {
        type: "range",
        min: 0,
        max: Math.max(1, attribute.height),
        step: 1,
        class: kind,
        disabled: attribute.height === 0,
        aria: { label: `${words} level of ${attribute.name}` },
      });
    const field = (words) =>
      h("input", {
        type: "number",
        dataset: { live: "" },
        class: "input number tiny",
        min: 0,
        max: attribute.height,
        step: 1,
        disabled: attribute.height === 0,
        aria: { label: `${words} level of ${attribute.name}, as a number` },
      });
    this.lowRange = made("Least", "low");
    this.highRange = made("Greatest", "high");
    this.lowField = field("Least");
    this.highField = field("Greatest");
    this.meaning = h("span", { class: "meaning small muted" });
    this.dot = h("span", { class: "now", aria: { hidden: true } });
    this.track = h(
      "div",
      { class: "track" },
      h("span", { class: "span" }),
      this.ticks(),
      this.dot,
      this.lowRange,
      this.highRange,
    );
    this.element = h(
      "div",
      { class: "level-range" },
      h(
        "div",
        { class: "level-head" },
        h("span", { class: "level-name", title: attribute.name }, attribute.name),
        this.meaning,
        h("span", { class: "level-fields" }, this.lowField, h("span", { class: "muted small" }, "–"), this.highField),
      ),
      this.track,
    );
    const take = (low, high) => {
      this.set(low, high);
      onInput();
    };
    this.lowRange.addEventListener("input", () => take(Math.min(Number(this.lowRange.value), this.high), this.high));
    this.highRange.addEventListener("input", () => take(this.low, Math.max(Number(this.highRange.value), this.low)));
    this.lowField.addEventListener("change", () => take(Math.min(this.bounded(this.lowField), this.high), this.high));
    this.highField.addEventListener("change", () => take(this.low, Math.max(this.bounded(this.highField), this.low)));
    this.set(0, this.height);
  }

  bounded(field) {
    return Math.min(this.height, Math.max(0, Math.round(Number(field.value) || 0)));
  }

  ticks() {
    const { height } = this;
    return h(
      "span",
      { class: "ticks", aria: { hidden: true } },
      range(0, height).map((level) => h("i", { style: { left: `${(100 * level) / Math.max(1, height)}%` } })),
    );
  }

  set(low, high) {
    Object.assign(this, { low, high });
    this.lowRange.value = this.lowField.value = low;
    this.highRange.value = this.highField.value = high;
    const part = (level) => level / Math.max(1, this.height);
    this.track.style.setProperty("--low", part(low));
    this.track.style.setProperty("--high", part(high));
    this.lowRange.setAttribute("aria-valuetext", this.words(low));
    this.highRange.setAttribute("aria-valuetext", this.words(high));
    this.lowRange.classList.toggle("front", low === this.height);
    this.tellMeaning();
  }

  mark(level) {
    this.now = level;
    this.track.style.setProperty("--now", (level ?? 0) / Math.max(1, this.height));
    this.dot.hidden = level === undefined;
    this.tellMeaning();
  }

  words(level) {
    const { values, examples } = this.attribute.levels[level];
    return `level ${level}: ${examples[0] ?? "nothing"}${values > 1 ? `, one of ${number(values)} values` : ""}`;
  }

  tellMeaning() {
    const level = this.now ?? this.high;
    const { values, examples } = this.attribute.levels[level];
    const words = `${level}: ${examples[0] ?? "–"}${values > 1 ? ` · ${number(values)} values` : ""}`;
    if (this.meaning.textContent !== words) this.meaning.textContent = words;
    this.element.title = this.attribute.levels
      .map((each, i) => `level ${i}: ${each.examples.join(", ")}${each.values > each.examples.length ? ", …" : ""}`)
      .join("\n");
  }
}
