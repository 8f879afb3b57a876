// Screen 1, Load: cell formats, for all columns and for single columns.

import { checkbox, field, select } from "../components/field.js";
import { h } from "../dom.js";
import { formatForm } from "./format-form.js";

const DECIMALS = [
  ["", "by column"],
  [",", "comma  1,5"],
  [".", "point  1.5"],
];

/** The fields of a source's cells; `change` saves a control's value, `format` saves a column's format. */
export function cellFields(source, view, change, format) {
  const decimal = select(DECIMALS, {
    value: source.decimal ?? "",
    on: { change: () => change({ decimal: decimal.value || null }) },
  });
  const strip = checkbox("Ignore blanks around cells", {
    checked: source.strip,
    on: { change: (event) => change({ strip: event.target.checked }) },
  });
  const formed = view?.columns.filter((column) => column.own_form) ?? [];
  return [
    field({ label: "Decimal mark", control: decimal, name: "decimal" }),
    strip,
    formed.length > 0 &&
      h(
        "div",
        { class: "field" },
        h("p", {}, "Columns with a cell format"),
        h(
          "ul",
          { class: "small" },
          formed.map((column) => h("li", {}, h("b", {}, column.name), `: ${column.format}`)),
        ),
      ),
    view && formatForm(view, format),
  ];
}
