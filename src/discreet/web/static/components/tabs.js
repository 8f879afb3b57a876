// Tabs: one stop of the Tab key, arrows move between them.

import { h, uid } from "../dom.js";

/** `[{id, label, panel}]`; `onSelect(id)`. The element has `.select(id)`. */
export function tabs(list, { label, selected = list[0].id, onSelect = () => {} }) {
  const prefix = uid("tabs");
  const heads = list.map((tab) =>
    h(
      "button",
      {
        role: "tab",
        type: "button",
        id: `${prefix}-${tab.id}`,
        aria: { controls: `${prefix}-${tab.id}-panel` },
        on: { click: () => choose(tab.id), keydown: (event) => move(event, tab.id) },
      },
      tab.label,
    ),
  );
  const panels = list.map((tab) =>
    h(
      "div",
      { role: "tabpanel", id: `${prefix}-${tab.id}-panel`, tabindex: "0", aria: { labelledby: `${prefix}-${tab.id}` } },
      tab.panel,
    ),
  );
  const element = h("div", { class: "tabs" }, h("div", { role: "tablist", aria: { label } }, heads), panels);
  function show(id) {
    list.forEach((tab, place) => {
      const on = tab.id === id;
      heads[place].setAttribute("aria-selected", String(on));
      heads[place].tabIndex = on ? 0 : -1;
      panels[place].hidden = !on;
    });
  }
  function choose(id) {
    show(id);
    onSelect(id);
  }
  function move(event, id) {
    const place = list.findIndex((tab) => tab.id === id);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const target =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? list.length - 1
          : step
            ? (place + step + list.length) % list.length
            : null;
    if (target === null) return;
    event.preventDefault();
    choose(list[target].id);
    heads[target].focus();
  }
  show(selected);
  element.select = choose;
  return element;
}
