// On a phone the request is at the lower edge: one tab per part, one slider with buttons for a step less or more.

import { clear, h } from "../dom.js";
import { number } from "../format.js";

/** The tabs of a `RequestPanel`; wide screens show all parts and no tabs. */
export class RequestTabs {
  constructor(request) {
    this.request = request;
    const many = request.levels.length;
    this.parts = [
      { id: "k", words: `${request.facts.unit} per group`, figure: () => number(request.k.value), control: request.k },
      request.l.length > 0 && {
        id: "l",
        words: "values",
        figure: () => number(request.l[0].control.value),
        control: request.l[0].control,
      },
      { id: "limit", words: "suppressed", figure: () => request.limit.words(), control: request.limit },
      { id: "levels", words: many === 1 ? "column" : "columns", figure: () => number(many), control: null },
    ].filter(Boolean);
    for (const part of this.parts) {
      part.value = h("b", {});
      part.tab = h(
        "button",
        { type: "button", aria: { pressed: "false" }, on: { click: () => this.select(part.id) } },
        part.value,
        h("span", {}, part.words),
      );
      if (part.control) this.addSteps(part);
    }
    this.element = h(
      "div",
      { class: "request-tabs", role: "group", aria: { label: "Part of the request" } },
      this.parts.map(({ tab }) => tab),
    );
    queueMicrotask(() => this.select("k"));
  }

  addSteps({ id, control }) {
    const name = id === "limit" ? "suppressed" : id;
    const step = (by, sign, words) =>
      h(
        "button",
        {
          class: "round-step",
          type: "button",
          aria: { label: `${name} one step ${words}` },
          on: { click: () => control.step(by) },
        },
        sign,
      );
    control.element.querySelector(".range").before(step(-1, "−", "less"));
    control.element.querySelector(".range").after(step(1, "+", "more"));
  }

  select(id) {
    for (const part of this.parts) part.tab.setAttribute("aria-pressed", String(part.id === id));
    this.request.element.dataset.shown = id;
  }

  /** Update the figures. */
  tell() {
    for (const { value, figure } of this.parts) {
      const words = figure();
      if (value.textContent !== words) clear(value, words);
    }
  }
}
