// What the colours and marks of the lattice mean.

import { h } from "../dom.js";

/** The legend; its swatches follow the theme by their classes. */
export function legend() {
  const key = (kind, words) => h("li", {}, h("span", { class: `swatch ${kind}`, aria: { hidden: true } }), words);
  return h(
    "ul",
    { class: "lattice-legend small" },
    key("meets", "meets the request"),
    key("lowest", "lowest that do"),
    key("beyond", "over the limit, to 100% suppressed"),
    key("faded", "outside the levels"),
    key("chosen", "shown"),
    key("request", "levels asked"),
  );
}
