// The legend of the lattice's colours, with the number of nodes of each.

import { h } from "../dom.js";
import { number, share } from "../format.js";

/** The legend: `.element`, `.count(nodes)`; its swatches follow the theme by their classes. */
export function legend(facts) {
  const key = (kind, words, where = "") =>
    h("li", { class: where }, h("span", { class: `swatch ${kind}`, aria: { hidden: true } }), words);
  const meets = h("span", {});
  const most = h("span", {});
  const near = h("span", {});
  const many = h("b", {});
  const element = h(
    "div",
    { class: "lattice-legend" },
    h("p", { class: "ways" }, many),
    h(
      "p",
      { class: "wide-only" },
      facts.partial ? "an empty outline is not evaluated" : "more detail below, less above",
    ),
    h(
      "ul",
      {},
      key("meets", meets),
      key("lowest", most, "wide-only"),
      h("li", {}, h("span", { class: "swatch beyond", aria: { hidden: true } }), "suppressed: too many"),
      h("li", { class: "scale wide-only", aria: { hidden: true } }, near, h("span", {}, "100 %")),
    ),
  );
  return {
    element,
    count(nodes) {
      let [all, lowest] = [0, 0];
      for (let place = 0; place < nodes.count; place += 1) {
        if (nodes.meets[place] >= 2) all += 1;
        if (nodes.meets[place] === 3) lowest += 1;
      }
      many.textContent =
        nodes.all > nodes.count
          ? `${number(nodes.count)} of ${number(nodes.all)} evaluated`
          : `${number(nodes.count)} ways to publish`;
      meets.textContent = `meets the request, ${number(all)}`;
      most.textContent = `with the most detail, ${number(lowest)}`;
      near.textContent = share(nodes.limit, nodes.rows);
    },
  };
}
