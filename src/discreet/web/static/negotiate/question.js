// A count query: the rows with given values, as estimate, certain bounds, and truth.

import { openDialog } from "../components/dialog.js";
import { clear, h } from "../dom.js";
import { draftOf, keepDraft } from "../drafts.js";
import { number } from "../format.js";
import { rarest, spoken } from "./words.js";

const KEY = "question";

/** `.query()` returns the query, `.show(found)` draws its answer; `onChange()` when the query changes. */
export class QuestionView {
  constructor(facts, { onChange }) {
    this.onChange = onChange;
    this.rows = facts.rows;
    this.attributes = facts.attributes.filter(({ drawn }) => drawn.labels && drawn.labels.length > 1);
    this.question = this.valid(draftOf(KEY));
    this.words = h("button", { class: "as-words", type: "button", on: { click: () => this.change() } });
    this.hero = h("span", { class: "hero" });
    this.truth = h("span", { class: "truth" });
    this.range = h(
      "span",
      { class: "range-bar", aria: { hidden: true } },
      h("i", { class: "span" }),
      h("i", { class: "here" }),
      h("i", { class: "true" }),
    );
    this.low = h("span", {});
    this.high = h("span", {});
    this.element = h(
      "div",
      { class: "question", hidden: this.question === null },
      h("h2", {}, "Count query"),
      this.words,
      h("p", { class: "hero-line" }, this.hero, this.truth),
      this.range,
      h("p", { class: "bounds" }, this.low, this.high),
      h("p", { class: "small-words" }, "certain bounds"),
    );
    this.tell();
  }

  query() {
    return this.question;
  }

  valid(draft) {
    const known = new Map(this.attributes.map(({ name, drawn }) => [name, new Set(drawn.labels)]));
    const fits = ([name, values]) => known.has(name) && values.every((value) => known.get(name).has(value));
    return draft && Object.keys(draft).length > 0 && Object.entries(draft).every(fits) ? draft : null;
  }

  /**
   * Set the query at the first answer: a range of the widest numeric column, and the rarest value of one that shows its
   * values.
   */
  begin(levels) {
    if (this.question || this.attributes.length === 0) return false;
    const found = {};
    const hidden = ({ name, height }) => levels[name] === height && height > 0;
    const numeric = this.attributes.filter(({ drawn }) => drawn.numeric);
    const widest = numeric.sort((a, b) => b.drawn.labels.length - a.drawn.labels.length)[0];
    if (widest) {
      const { labels } = widest.drawn;
      const from = Math.floor(labels.length * 0.32);
      found[widest.name] = labels.slice(from, from + Math.max(1, Math.round(labels.length * 0.14)));
    }
    const few = [...this.attributes].sort(
      (a, b) => hidden(a) - hidden(b) || a.drawn.labels.length - b.drawn.labels.length,
    )[0];
    if (few && few !== widest) {
      found[few.name] = [rarest(few.drawn)];
    }
    this.question = found;
    this.element.hidden = false;
    this.tell();
    return true;
  }

  tell() {
    if (!this.question) return;
    const parts = Object.entries(this.question).map(([name, values]) => {
      const { drawn } = this.attributes.find((each) => each.name === name);
      if (drawn.numeric && values.length > 1) return `${spoken(name)} ${values[0]} to ${values.at(-1)}`;
      if (values.length === 1) return `${spoken(name)} ${values[0]}`;
      return `${spoken(name)} one of ${values.length}`;
    });
    this.words.textContent = `${parts.join(", ")}: how many rows?`;
    this.words.setAttribute("aria-label", `Change the query: ${this.words.textContent}`);
  }

  show(found) {
    if (!found) return;
    const { truth, estimate, low, high } = found;
    this.hero.textContent = number(Math.round(estimate));
    this.truth.textContent = `true count ${number(truth)}`;
    this.low.textContent = number(low);
    this.high.textContent = number(high);
    const margin = 0.12 * Math.max(1, high - low);
    const [from, to] = [Math.max(0, low - margin), high + margin];
    const at = (value) => `${(100 * (value - from)) / Math.max(1e-9, to - from)}%`;
    const { style } = this.range;
    for (const [name, value] of Object.entries({ low, high, truth, here: estimate }))
      style.setProperty(`--${name}`, at(value));
  }

  async change() {
    const typed = structuredClone(this.question);
    const body = h(
      "div",
      { class: "form question-form" },
      this.attributes.map((attribute) => this.choice(attribute, typed)),
    );
    const done = await openDialog({
      title: "Count query: how many rows have …",
      body,
      kind: "wide-dialog",
      actions: [
        { label: "Cancel", value: null },
        { label: "Count", value: true, tone: "primary", submits: true },
      ],
    });
    const query = Object.fromEntries(Object.entries(typed).filter(([, values]) => values.length > 0));
    if (!done || Object.keys(query).length === 0) return;
    this.question = query;
    keepDraft(KEY, query);
    this.tell();
    this.onChange();
  }

  /** The fields from and to of a numeric column; the values of any other as ticks. */
  choice({ name, drawn }, typed) {
    const { labels } = drawn;
    if (drawn.numeric) {
      const bound = (words, value) =>
        h("input", { class: "input number", type: "number", value, step: "any", aria: { label: `${name}, ${words}` } });
      const [from, to] = [bound("from", typed[name]?.[0] ?? ""), bound("to", typed[name]?.at(-1) ?? "")];
      const take = () => {
        const has = from.value !== "" || to.value !== "";
        const within = (label) =>
          (from.value === "" || Number(label) >= Number(from.value)) &&
          (to.value === "" || Number(label) <= Number(to.value));
        typed[name] = has ? labels.filter(within) : [];
      };
      from.addEventListener("input", take);
      to.addEventListener("input", take);
      return h("fieldset", { class: "of-numbers" }, h("legend", {}, spoken(name)), from, h("span", {}, "to"), to);
    }
    const list = h("select", {
      class: "input",
      multiple: true,
      size: Math.min(4, labels.length),
      aria: { label: name },
    });
    clear(
      list,
      labels.map((label) => h("option", { value: label, selected: typed[name]?.includes(label) ?? false }, label)),
    );
    list.addEventListener("change", () => {
      typed[name] = [...list.selectedOptions].map((option) => option.value);
    });
    return h("label", { class: "field" }, h("span", { class: "label" }, `${spoken(name)}, any of`), list);
  }
}
