// The list of quasi-identifiers with the height of each hierarchy: a list, or a select on narrow screens.

import { field, select } from "../components/field.js";
import { badge } from "../components/parts.js";
import { clear, h } from "../dom.js";
import { count } from "../format.js";

/** A list of hierarchies; `.show(hierarchies, current)` draws it, `onChoose(name, fromList)`. */
export function attributeList(onChoose) {
  const element = h("nav", { class: "attribute-list", aria: { label: "Quasi-identifiers" } });
  element.show = (hierarchies, current) => {
    const pick = select(
      hierarchies.map((each) => [
        each.name,
        `${each.name} (${each.error ? "needs attention" : count(each.height, "level")})`,
      ]),
      { value: current, on: { change: () => onChoose(pick.value, false) } },
    );
    clear(
      element,
      h("div", { class: "narrow" }, field({ label: "Quasi-identifier", control: pick })),
      h(
        "ul",
        { class: "panel wide" },
        hierarchies.map((each) => item(each, each.name === current, () => onChoose(each.name, true))),
      ),
    );
  };
  return element;
}

function item({ name, values, origin, error, height }, isCurrent, onClick) {
  return h(
    "li",
    {},
    h(
      "button",
      {
        type: "button",
        class: "attribute",
        aria: { current: isCurrent ? "true" : null },
        on: { click: onClick },
      },
      h(
        "span",
        { class: "grow" },
        h("span", { class: "name" }, name),
        h("span", { class: "small muted block" }, `${count(values, "value")} · ${origin}`),
      ),
      error
        ? badge("fault", "bad")
        : height === 1
          ? badge("1 level", values > 8 ? "warning" : "plain")
          : badge(count(height, "level")),
    ),
  );
}
