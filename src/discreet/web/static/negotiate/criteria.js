// Criteria other than k and l: a slider for each requested one, per sensitive attribute if it has one.

import { optionField, showOptions, typedOptions } from "../components/option-field.js";
import { stopSlider } from "../components/stop-slider.js";
import { clear, h } from "../dom.js";
import { grouped } from "../format.js";

/**
 * `kinds` are the server's descriptions of criteria, `sensitive` the names of attributes; `onInput()` at each step.
 * Without criteria the element is empty.
 */
export class CriteriaControls {
  constructor(kinds, sensitive, { onInput }) {
    this.kinds = kinds.filter((kind) => !kind.of_attribute || sensitive.length > 0);
    this.sensitive = sensitive;
    this.onInput = onInput;
    this.requested = []; // {kind, attribute, control, parts}, in the order of the kinds and attributes
    this.sliders = h("div", { class: "stack tight" });
    this.more = h("select", {
      class: "input",
      aria: { label: "Add a criterion" },
      on: { change: () => this.ask(this.more.value) },
    });
    this.populationHint = h("p", { class: "sentence hint" });
    this.element = h(
      "div",
      { class: "criteria stack tight", hidden: this.kinds.length === 0 },
      this.sliders,
      this.more,
      this.populationHint,
    );
    this.show();
  }

  /** Enable or disable the choice of criteria. */
  offer(can) {
    this.element.hidden = !can || this.kinds.length === 0;
  }

  /** Return the requested criteria by name, in the form of the server; null if there are none. */
  value() {
    const found = {};
    for (const kind of this.kinds) {
      const requested = this.requested.filter((each) => each.kind === kind);
      if (requested.length > 0) found[kind.name] = this.valueOf(kind, requested);
    }
    return this.requested.length > 0 ? found : null;
  }

  /** Return a number, or numbers by attribute; a list of tables if fixed parts are set. */
  valueOf(kind, requested) {
    const ofOne = !kind.of_attribute || this.sensitive.length === 1;
    const tables = requested.map(({ attribute, control, parts }) => ({
      value: control.value,
      ...(ofOne ? {} : { attribute }),
      ...typedOptions(parts, kind.fields),
    }));
    const plain = tables.every((table) => Object.keys(table).length === (ofOne ? 1 : 2));
    if (!plain || (ofOne && requested.length > 1)) return tables;
    return ofOne ? tables[0].value : Object.fromEntries(tables.map(({ attribute, value }) => [attribute, value]));
  }

  /** Show the criteria of a request. */
  set(criteria) {
    this.requested = this.kinds.flatMap((kind) =>
      tablesOf(criteria?.[kind.name]).flatMap(({ value, attribute, ...parts }) =>
        this.placesOf(kind)
          .filter((place) => attribute === undefined || attribute === null || attribute === place)
          .map((place) => this.sliderOf(kind, place, value, parts)),
      ),
    );
    this.show();
  }

  ask(name) {
    const kind = this.kinds.find((each) => each.name === name);
    if (!kind) return;
    for (const attribute of this.placesOf(kind)) {
      if (this.isAsked(kind, attribute)) continue;
      this.requested.push(this.sliderOf(kind, attribute, kind.first, {}));
    }
    const place = (each) => this.kinds.indexOf(each.kind) * 1e6 + this.sensitive.indexOf(each.attribute);
    this.requested.sort((a, b) => place(a) - place(b));
    this.show();
    this.onInput();
  }

  askNoMore(slider) {
    this.requested = this.requested.filter((each) => each !== slider);
    this.show();
    this.more.focus();
    this.onInput();
  }

  placesOf(kind) {
    return kind.of_attribute ? this.sensitive : [null];
  }

  isAsked(kind, attribute) {
    return this.requested.some((each) => each.kind === kind && each.attribute === attribute);
  }

  sliderOf(kind, attribute, value, parts) {
    const called = kind.name.length === 1 ? kind.name : kind.title;
    const label = attribute === null || this.sensitive.length === 1 ? called : `${called} of ${attribute}`;
    const control = stopSlider({
      label,
      hint: grouped(kind.hint),
      name: attribute === null ? kind.name : `${kind.name} ${attribute}`,
      stops: kind.stops,
      least: kind.least,
      most: kind.most,
      whole: kind.whole,
      onInput: this.onInput,
    });
    const away = h(
      "button",
      {
        class: "button small quiet icon-button",
        type: "button",
        title: "Remove it",
        aria: { label: `Remove ${label}` },
        on: { click: () => this.askNoMore(slider) },
      },
      "✕",
    );
    const area = h(
      "div",
      { class: "fixed-parts", hidden: kind.fields.length === 0, on: { change: this.onInput } },
      kind.fields.map((option) => partOf(option, label)),
    );
    const slider = { kind, attribute, control, parts: area };
    control.element.classList.add("criterion");
    control.element.dataset.criterion = kind.name;
    control.element.append(away, area);
    control.set(value);
    showOptions(area, parts);
    return slider;
  }

  show() {
    this.sliders.replaceChildren(...this.requested.map((each) => each.control.element));
    const some = this.kinds.filter((kind) => this.placesOf(kind).some((attribute) => !this.isAsked(kind, attribute)));
    const left = some.filter((kind) => !kind.lacks_population);
    const unavailable = some.filter((kind) => kind.lacks_population).map((kind) => kind.title);
    this.populationHint.textContent =
      `${unavailable.join(" and ")} need a population: a table of more people, ` +
      "or a published subset of this one. The spec has neither.";
    this.populationHint.hidden = unavailable.length === 0;
    clear(
      this.more,
      h("option", { value: "" }, "Add a criterion…"),
      left.map((kind) => h("option", { value: kind.name }, kind.title)),
    );
    this.more.hidden = left.length === 0;
  }
}

/** The field of a fixed part of a criterion, with an accessible name. */
function partOf(option, label) {
  const element = optionField({ ...option, hint: grouped(option.hint ?? "") });
  element.control?.setAttribute("aria-label", `${option.label} of ${label}`);
  return element;
}

/** Return the request of one criterion as tables of value, attribute and fixed parts. */
function tablesOf(requested) {
  if (requested === undefined) return [];
  if (Array.isArray(requested)) return requested;
  if (typeof requested === "number") return [{ value: requested }];
  return Object.entries(requested).map(([attribute, value]) => ({ attribute, value }));
}
