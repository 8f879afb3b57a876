// Criteria beside k and l: a slider for each that is asked, per sensitive attribute where it has one.

import { stopSlider } from "../components/stop-slider.js";
import { clear, h } from "../dom.js";

/**
 * `kinds` are what the server says of each criterion, `sensitive` the names of attributes; `onInput()` at each step.
 * Without a criterion to ask for there is nothing to see.
 */
export class CriteriaControls {
  constructor(kinds, sensitive, { onInput }) {
    this.kinds = kinds.filter((kind) => !kind.of_attribute || sensitive.length > 0);
    this.sensitive = sensitive;
    this.onInput = onInput;
    this.asked = []; // {kind, attribute, control}, in the order of the kinds and attributes
    this.sliders = h("div", { class: "stack tight" });
    this.more = h("select", {
      class: "input",
      aria: { label: "Ask for another criterion" },
      on: { change: () => this.ask(this.more.value) },
    });
    this.element = h(
      "div",
      { class: "criteria stack tight", hidden: this.kinds.length === 0 },
      this.sliders,
      this.more,
    );
    this.show();
  }

  /** Whether criteria can be asked for at all. */
  offer(can) {
    this.element.hidden = !can || this.kinds.length === 0;
  }

  /** The criteria that are asked by name: a number, or numbers by attribute; null where there is none. */
  value() {
    const found = {};
    for (const { kind, attribute, control } of this.asked) {
      if (attribute === null || this.sensitive.length === 1) found[kind.name] = control.value;
      else found[kind.name] = { ...found[kind.name], [attribute]: control.value };
    }
    return this.asked.length > 0 ? found : null;
  }

  /** Show the criteria of a request. */
  set(criteria) {
    const wanted = this.kinds.flatMap((kind) => {
      const asked = criteria?.[kind.name];
      if (asked === undefined) return [];
      const values = this.placesOf(kind).map((attribute) => ({ kind, attribute, value: asked[attribute] ?? asked }));
      return values.filter(({ value }) => typeof value === "number");
    });
    this.asked = wanted.map((each) => {
      const slider = this.sliderOf(each.kind, each.attribute);
      slider.control.set(each.value);
      return slider;
    });
    this.show();
  }

  ask(name) {
    const kind = this.kinds.find((each) => each.name === name);
    if (!kind) return;
    for (const attribute of this.placesOf(kind)) {
      if (this.isAsked(kind, attribute)) continue;
      const slider = this.sliderOf(kind, attribute);
      slider.control.set(kind.first);
      this.asked.push(slider);
    }
    const place = (each) => this.kinds.indexOf(each.kind) * 1e6 + this.sensitive.indexOf(each.attribute);
    this.asked.sort((a, b) => place(a) - place(b));
    this.show();
    this.onInput();
  }

  askNoMore(kind, attribute) {
    this.asked = this.asked.filter((each) => each.kind !== kind || each.attribute !== attribute);
    this.show();
    this.more.focus();
    this.onInput();
  }

  placesOf(kind) {
    return kind.of_attribute ? this.sensitive : [null];
  }

  isAsked(kind, attribute) {
    return this.asked.some((each) => each.kind === kind && each.attribute === attribute);
  }

  sliderOf(kind, attribute) {
    const label = attribute === null || this.sensitive.length === 1 ? kind.name : `${kind.name} of ${attribute}`;
    const control = stopSlider({
      label,
      hint: kind.hint,
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
        title: "Ask for it no more",
        aria: { label: `Ask no more for ${label}` },
        on: { click: () => this.askNoMore(kind, attribute) },
      },
      "✕",
    );
    control.element.classList.add("criterion");
    control.element.dataset.criterion = kind.name;
    control.element.append(away);
    return { kind, attribute, control };
  }

  show() {
    this.sliders.replaceChildren(...this.asked.map((each) => each.control.element));
    const left = this.kinds.filter((kind) => this.placesOf(kind).some((attribute) => !this.isAsked(kind, attribute)));
    clear(
      this.more,
      h("option", { value: "" }, "Ask for another criterion…"),
      left.map((kind) => h("option", { value: kind.name }, `${kind.name}: ${kind.title}`)),
    );
    this.more.hidden = left.length === 0;
  }
}
