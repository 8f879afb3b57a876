// The request: sliders and number fields that follow each other.

import { panel } from "../components/parts.js";
import { stopSlider } from "../components/stop-slider.js";
import { errorText } from "../api.js";
import { clear, h, uid } from "../dom.js";
import { number } from "../format.js";
import { CriteriaControls } from "../negotiate/criteria.js";

const K_STOPS = [
  ...range(1, 20),
  22,
  25,
  30,
  35,
  40,
  45,
  50,
  60,
  70,
  80,
  90,
  100,
  125,
  150,
  200,
  250,
  300,
  400,
  500,
  750,
  1000,
];
const PERCENT_STOPS = [
  0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30,
  40, 50, 60, 70, 80, 90, 100,
];

function range(first, last) {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** The panel on the left; `onChange(body)` at each step. */
export class RequestPanel {
  constructor(facts, { onChange }) {
    this.facts = facts;
    this.onChange = onChange;
    this.isWrong = false;
    this.error = h("p", { class: "form-error", role: "alert" });
    this.k = stopSlider({
      label: "k",
      hint: `${facts.unit} in each class`,
      name: "k",
      stops: K_STOPS,
      least: 1,
      most: 1e9,
      onInput: () => this.tell(),
    });
    this.l = facts.sensitive.map((sensitive) => ({
      name: sensitive.name,
      control: stopSlider({
        label: facts.sensitive.length === 1 ? "l" : `l of ${sensitive.name}`,
        hint:
          facts.sensitive.length === 1 ? `distinct ${sensitive.name} in each class` : "distinct values in each class",
        name: `l ${sensitive.name}`,
        stops: range(1, Math.max(2, Math.min(30, sensitive.values))),
        least: 1,
        most: 1e9,
        onInput: () => this.tell(),
      }),
    }));
    this.criteria = new CriteriaControls(
      facts.criteria,
      facts.sensitive.map((each) => each.name),
      { onInput: () => this.tell() },
    );
    this.limit = limitControl(facts.rows, () => this.tell());
    this.levels = facts.attributes.map((attribute) => new LevelRange(attribute, () => this.tell()));
    this.scope = h(
      "select",
      { class: "input", id: uid("scope"), on: { change: () => this.tell() } },
      h("option", { value: "above" }, "at or above the levels asked"),
      h("option", { value: "global" }, "anywhere in the lattice"),
    );
    const reset = h(
      "button",
      {
        class: "button small quiet",
        type: "button",
        on: {
          click: () => {
            for (const each of this.levels) each.set(0, each.height);
            this.tell();
          },
        },
      },
      "All levels",
    );
    this.element = panel(
      { title: "Request", label: "Request" },
      this.error,
      this.k.element,
      this.l.map((each) => each.control.element),
      this.criteria.element,
      this.limit.element,
      h(
        "fieldset",
        { class: "level-ranges" },
        h("legend", {}, "Levels allowed"),
        h("div", { class: "level-reset" }, reset),
        this.levels.map((each) => each.element),
      ),
      h("div", { class: "field scope" }, h("label", { for: this.scope.id }, "Relaxed height looks"), this.scope),
    );
    this.element.classList.add("request-panel");
  }

  tell() {
    this.onChange(this.body());
  }

  /** The request as the server takes it. */
  body() {
    const { facts } = this;
    const asked = this.l.map(({ name, control }) => [name, control.value]).filter(([, value]) => value > 1);
    let l = null;
    if (asked.length > 0) l = facts.sensitive.length === 1 ? asked[0][1] : Object.fromEntries(asked);
    const criteria = this.criteria.value();
    const by = (pick) => Object.fromEntries(this.levels.map(pick).filter(Boolean));
    return {
      k: this.k.value,
      l,
      max_suppressed: this.limit.value,
      max_level: by((each) => each.high < each.height && [each.name, each.high]),
      min_level: by((each) => each.low > 0 && [each.name, each.low]),
      scope: this.scope.value,
      ...(criteria === null ? {} : { criteria }),
    };
  }

  /** Show a request. */
  set(body) {
    this.k.set(body.k ?? 1);
    for (const { name, control } of this.l) control.set((typeof body.l === "number" ? body.l : body.l?.[name]) ?? 1);
    this.criteria.set(body.criteria);
    this.limit.set(body.max_suppressed);
    for (const each of this.levels) each.set(body.min_level[each.name] ?? 0, body.max_level[each.name] ?? each.height);
    this.scope.value = body.scope;
  }

  /** Mark the levels of the node that is shown. */
  mark(levels) {
    for (const each of this.levels) each.mark(levels[each.name]);
  }

  setError(error) {
    this.isWrong = error !== null;
    clear(this.error, error === null ? [] : [errorText(error)]);
  }
}

/** The limit of suppressed rows: a slider, rows, and percent; what was touched last is what is asked. */
function limitControl(rows, onInput) {
  const id = uid("limit");
  const slider = h("input", {
    type: "range",
    id,
    name: "max_suppressed",
    min: 0,
    max: PERCENT_STOPS.length - 1,
    step: 1,
    class: "range",
  });
  const inRows = h("input", {
    type: "number",
    class: "input number",
    min: 0,
    max: rows,
    step: 1,
    aria: { label: "Maximum suppression in rows" },
  });
  const inPercent = h("input", {
    type: "number",
    class: "input number",
    min: 0,
    max: 100,
    step: "any",
    aria: { label: "Maximum suppression in percent" },
  });
  const control = { value: 0 };
  const percentOf = () =>
    typeof control.value === "number"
      ? rows > 0
        ? (100 * control.value) / rows
        : 0
      : Number(control.value.slice(0, -1));
  const rowsOf = () =>
    typeof control.value === "number"
      ? Math.min(control.value, rows)
      : Math.floor((Number(control.value.slice(0, -1)) * rows) / 100 + 1e-9);
  const show = (source) => {
    const percent = percentOf();
    let at = 0;
    while (at < PERCENT_STOPS.length - 1 && PERCENT_STOPS[at + 1] <= percent + 1e-9) at += 1;
    if (source !== slider) slider.value = at;
    slider.setAttribute("aria-valuetext", `${plain(percent)}%, ${number(rowsOf())} rows`);
    slider.style.setProperty("--filled", `${(100 * at) / (PERCENT_STOPS.length - 1)}%`);
    if (source !== inRows) inRows.value = rowsOf();
    if (source !== inPercent) inPercent.value = plain(percent);
  };
  const take = (value, source) => {
    control.value = value;
    show(source);
    onInput();
  };
  slider.addEventListener("input", () => take(`${PERCENT_STOPS[Number(slider.value)]}%`, slider));
  const typed = (field, most, value) => {
    field.addEventListener("input", () => {
      const found = Number(field.value);
      const wrong = field.value === "" || !(found >= 0 && found <= most);
      field.setAttribute("aria-invalid", String(wrong));
      if (!wrong) take(value(found), field);
    });
    field.addEventListener("blur", () => {
      field.removeAttribute("aria-invalid");
      show(null);
    });
  };
  typed(inRows, rows, (found) => Math.floor(found));
  typed(inPercent, 100, (found) => `${plain(found)}%`);
  control.set = (value) => {
    control.value = /^\d+$/.test(String(value)) ? Number(value) : String(value).replace(/\s/g, "");
    show(null);
  };
  control.element = h(
    "div",
    { class: "stop-slider limit" },
    h("label", { for: id }, h("b", {}, "Suppressed rows"), h("span", { class: "muted small" }, " at most")),
    h(
      "div",
      { class: "limit-fields" },
      inRows,
      h("span", { class: "muted" }, "="),
      inPercent,
      h("span", { class: "muted" }, "%"),
    ),
    slider,
  );
  return control;
}

function plain(value) {
  return String(Number(value.toFixed(4)));
}

/** The least and the greatest level of one attribute: two thumbs, two number fields, and what they show. */
class LevelRange {
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
        h("span", { class: "level-name" }, attribute.name, this.meaning),
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
    for (const [control, value] of [
      [this.lowRange, low],
      [this.highRange, high],
      [this.lowField, low],
      [this.highField, high],
    ]) {
      if (control.value !== String(value)) control.value = value;
    }
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
