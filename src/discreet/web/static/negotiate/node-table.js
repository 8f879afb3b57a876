// All nodes of the lattice as a table, page by page.

import { badge, button } from "../components/parts.js";
import { wideTable } from "../components/table.js";
import { h } from "../dom.js";
import { number } from "../format.js";

const PAGE = 25;
const ONLY = [
  ["all", "all nodes"],
  ["meets", "those that meet the request"],
  ["frontier", "the frontier"],
];
const ORDERS = [
  ["height", "height, then loss"],
  ["suppressed", "suppressed rows"],
  ["loss", "loss"],
];

/** Draw a page of nodes; `again()` for another page, order or filter. */
export function nodeTable({ ask, again, onLook }) {
  const wanted = { first: 0, number: PAGE, order: "height", only: "all" };
  const change = (changes) => {
    Object.assign(wanted, changes);
    again();
  };

  const draw = async ({ request }) => {
    const found = await ask("nodes", { request, ...wanted });
    if (wanted.first > 0 && wanted.first >= found.total) {
      wanted.first = 0;
      return draw({ request });
    }
    return [pages(found.total), table(found)];
  };

  function pages(total) {
    const { first, order, only } = wanted;
    const turn = (label, by, disabled) =>
      button(label, { small: true, disabled, onClick: () => change({ first: first + by }) });
    return h(
      "div",
      { class: "row" },
      choice("Show", only, ONLY, (value) => change({ only: value, first: 0 })),
      choice("by", order, ORDERS, (value) => change({ order: value, first: 0 })),
      turn("Previous", -PAGE, first === 0),
      turn("Next", PAGE, first + PAGE >= total),
      h(
        "span",
        { class: "small muted" },
        total === 0 ? "none" : `${number(first + 1)}–${number(Math.min(total, first + PAGE))} of ${number(total)}`,
      ),
    );
  }

  function table({ nodes, attributes }) {
    return wideTable({
      caption: "Nodes of the lattice",
      kind: "",
      dense: true,
      rows: nodes,
      empty: "No matching node.",
      onSelect: (node) => onLook(node.levels),
      columns: [
        ...attributes.map((name) => ({ key: name, title: name, number: true, render: (node) => node.levels[name] })),
        { key: "height", title: "height", number: true },
        { key: "loss", title: "loss", number: true, render: (node) => node.loss.toFixed(3) },
        { key: "suppressed", title: "suppressed", number: true, render: (node) => number(node.suppressed) },
        {
          key: "meets",
          title: "meets the request",
          render: (node) => (node.meets ? badge("yes", "good") : badge("no", "plain")),
        },
      ],
    });
  }

  return draw;
}

function choice(label, value, options, onChange) {
  return h(
    "label",
    { class: "row small" },
    label,
    h(
      "select",
      { class: "input slim", value, on: { change: (event) => onChange(event.target.value) } },
      options.map(([key, words]) => h("option", { value: key, selected: key === value }, words)),
    ),
  );
}
