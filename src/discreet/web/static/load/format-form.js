// The cell format of one column: the form of the spec's `format`.

import { field, input, select } from "../components/field.js";
import { form } from "../components/form.js";
import { button } from "../components/parts.js";
import { h } from "../dom.js";

const DECIMALS = [
  ["", "no numbers, or plain numbers"],
  [",", "comma  1,5"],
  [".", "point  1.5"],
];
const THOUSANDS = [
  ["", "no separator"],
  [".", "point  1.000"],
  [",", "comma  1,000"],
  [" ", "blank  1 000"],
  ["'", "apostrophe  1'000"],
  ["_", "underscore  1_000"],
];

const listed = (text) =>
  text
    .split("|")
    .map((each) => each.trim())
    .filter(Boolean);
const shown = (value) => [value ?? []].flat().join(" | ");

/**
 * A column, its cell format, and a button that calls `save(column, format, area)`; `{}` for an unchanged column.
 * `chosen` is the column that was saved last, whose form is open again.
 */
export function formatForm(view, { save, chosen = null }) {
  const column = select(
    view.columns.map((each) => each.name),
    { on: { change: () => fill() } },
  );
  const decimal = select(DECIMALS);
  const thousands = select(THOUSANDS);
  const unit = input({ placeholder: "€ | EUR" });
  const dates = input({ placeholder: "%d.%m.%Y | %Y-%m-%d" });
  const pivot = input({ inputmode: "numeric", placeholder: "2030" });
  const fill = () => {
    const known = view.columns.find((each) => each.name === column.value)?.form ?? {};
    decimal.value = known.decimal ?? "";
    thousands.value = known.thousands ?? "";
    unit.value = shown(known.unit);
    dates.value = shown(known.dates);
    pivot.value = known.pivot ?? "";
  };
  const format = () => ({
    decimal: decimal.value,
    thousands: thousands.value,
    unit: listed(unit.value),
    dates: listed(dates.value),
    pivot: /^\d+$/.test(pivot.value.trim()) ? Number(pivot.value) : pivot.value.trim(),
  });
  const plain = button("Read unchanged", { onClick: () => save(column.value, {}, element) });
  const missed = missedCells((what) => save(column.value, format(), element, what));
  const element = form(
    {
      send: "Save the format",
      onSend: () => save(column.value, format(), element),
      actions: [plain],
    },
    field({ label: "Column", control: column, name: "column" }),
    field({ label: "Before decimals", control: decimal, name: "decimal" }),
    field({ label: "Thousands", control: thousands, name: "thousands" }),
    field({ label: "Units", control: unit, name: "unit", optional: true, hint: "Ignored; separate several with |." }),
    field({
      label: "Date formats",
      control: dates,
      name: "dates",
      optional: true,
      hint: "%d day, %m month, %Y year, %y its last two digits; separate several with |; the first that fits is used.",
    }),
    field({
      label: "Latest year of two digits",
      control: pivot,
      name: "pivot",
      optional: true,
    }),
    missed,
  );
  if (chosen !== null) column.value = chosen;
  fill();
  return h(
    "details",
    { class: "another", open: chosen !== null },
    h("summary", {}, "Set a column's cell format"),
    h("div", { class: "stack" }, element),
  );
}

/** Explain the cells that do not fit the format, with actions; `onChoose("null" | "keep")`. */
function missedCells(onChoose) {
  const words = h("p", {});
  const acts = h(
    "div",
    { class: "row" },
    button("Read them as NULL", { small: true, onClick: () => onChoose("null") }),
    button("Leave them unchanged", { small: true, onClick: () => onChoose("keep") }),
  );
  const element = h("div", { class: "notice bad stack", role: "alert", hidden: true, dataset: { field: "missed" } });
  element.append(words, acts);
  element.control = acts.firstElementChild;
  element.setError = (text) => {
    element.hidden = !text;
    words.textContent = text ?? "";
  };
  return element;
}
