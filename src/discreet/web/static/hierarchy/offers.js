// Built-in hierarchies that fit the current column, each with its source and year; one click uses it.

import { button, panel } from "../components/parts.js";
import { h } from "../dom.js";

const FIRST = 3;

/** The hierarchies that fit `answer`'s column; `onUse(body)`. Null if there are none. */
export function offers({ attribute, offers: found, origin }, onUse) {
  if (found.length === 0) return null;
  const item = (offer) => {
    const used = origin.startsWith(`built-in ${offer.name} `);
    return h(
      "li",
      { class: "offer" },
      h(
        "div",
        { class: "grow" },
        h("b", {}, offer.title),
        h("span", { class: "block small" }, offer.path.join(" → ")),
        h("span", { class: "block small muted" }, `Source: ${offer.source}`),
      ),
      used
        ? h("span", { class: "small muted" }, "in use")
        : button("Use it", {
            small: true,
            title: offer.title,
            onClick: () => onUse({ attribute, kind: "builtin", typed: offer.typed }),
          }),
    );
  };
  const rest = found.slice(FIRST);
  return panel(
    {
      title: "Public hierarchies that fit",
      level: 3,
      note: "They do not depend on the data and disclose nothing about it.",
    },
    h("ul", { class: "offers" }, found.slice(0, FIRST).map(item)),
    rest.length > 0 &&
      h(
        "details",
        {},
        h("summary", { class: "small" }, `${rest.length} more`),
        h("ul", { class: "offers" }, rest.map(item)),
      ),
  );
}
