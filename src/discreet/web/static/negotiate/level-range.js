// The levels of one attribute that an answer may use: a chip for each, and the values of the answer's level.

import { h } from "../dom.js";
import { number } from "../format.js";
import { range } from "../numbers.js";
import { spoken } from "./words.js";

/**
 * One row. A filled chip is the answer's level, an outlined one is allowed, a dashed one is not. Pressing a chip makes
 * it the last allowed one; pressing the last one allows all again. With Shift it is the first allowed one. Two number
 * fields do the same for keyboards.
 */
export class LevelRange {
  constructor(attribute, onInput) {
    this.name = attribute.name;
    this.height = attribute.height;
    this.attribute = attribute;
    const field = (words) =>
      h("input", {
        type: "number",
        dataset: { live: "" },
        class: "input number level-field",
        min: 0,
        max: attribute.height,
        step: 1,
        disabled: attribute.height === 0,
        aria: { label: `${words} level of ${attribute.name}, as a number` },
      });
    this.lowField = field("Least");
    this.highField = field("Greatest");
    const take = (low, high) => {
      this.set(low, high);
      onInput();
    };
    this.chips = range(0, attribute.height).map((level) =>
      h(
        "button",
        {
          type: "button",
          class: "level",
          on: {
            click: ({ shiftKey }) => {
              if (shiftKey) take(level === this.low ? 0 : level, Math.max(level, this.high));
              else take(Math.min(level, this.low), level === this.high ? this.height : level);
            },
          },
        },
        String(level),
      ),
    );
    this.meaning = h("span", { class: "meaning" });
    this.element = h(
      "div",
      { class: "level-range", role: "group", aria: { label: `Levels of ${attribute.name}` } },
      h("span", { class: "level-name", title: attribute.name }, spoken(attribute.name)),
      h("span", { class: "levels" }, this.chips),
      this.meaning,
      h("span", { class: "level-fields" }, this.lowField, this.highField),
    );
    this.lowField.addEventListener("change", () => take(Math.min(this.bounded(this.lowField), this.high), this.high));
    this.highField.addEventListener("change", () => take(this.low, Math.max(this.bounded(this.highField), this.low)));
    this.set(0, this.height);
  }

  bounded(field) {
    return Math.min(this.height, Math.max(0, Math.round(Number(field.value) || 0)));
  }

  set(low, high) {
    Object.assign(this, { low, high });
    this.lowField.value = low;
    this.highField.value = high;
    this.draw();
  }

  mark(level) {
    this.now = level;
    this.draw();
  }

  draw() {
    this.chips.forEach((chip, level) => {
      const state = level === this.now ? "now" : level >= this.low && level <= this.high ? "allowed" : "not";
      const refused = level < this.low || level > this.high;
      const key = `${state} ${refused}`;
      if (chip.dataset.key === key) return;
      chip.dataset.key = key;
      chip.className = `level ${state}${refused ? " refused" : ""}`;
      const suffix = state === "now" ? ", the answer's" : "";
      chip.title = this.words(level);
      chip.setAttribute("aria-label", `${this.name}, ${this.words(level)}${suffix}${refused ? ", not allowed" : ""}`);
      chip.setAttribute("aria-pressed", String(!refused));
    });
    const { examples } = this.attribute.levels[this.now ?? this.high];
    const hidden = (this.now ?? this.high) === this.height && this.height > 0;
    const words = hidden ? "not shown" : (examples[0] ?? "–");
    if (this.meaning.textContent !== words) this.meaning.textContent = words;
  }

  words(level) {
    const { values, examples } = this.attribute.levels[level];
    return `level ${level}: ${examples[0] ?? "nothing"}${values > 1 ? `, one of ${number(values)} values` : ""}`;
  }
}
