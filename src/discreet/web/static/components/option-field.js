// Declared options of a model or criterion, each with the control of its kind.

import { h } from "../dom.js";
import { checkbox, field, input, select } from "../components/field.js";

/** A field for one option; `columns` are names of columns, for the kinds that select columns. */
export function optionField(option, columns = {}) {
  const control = optionControl(option, columns);
  (control.box ?? control).dataset.option = option.name;
  return option.kind === "flag" ? control : field({ label: option.label, hint: option.hint || null, control });
}

/** Return the values of the fields of `area` by option. */
export function chosenOptions(area) {
  const controls = [...area.querySelectorAll("[data-option]")];
  return Object.fromEntries(controls.map((control) => [control.dataset.option, valueOf(control)]));
}

/** Return the typed values of the fields of `area` by option, without empty ones and defaults. */
export function typedOptions(area, options) {
  const chosen = chosenOptions(area);
  const typed = options.map((option) => [option, typedValue(option, chosen[option.name])]);
  const changed = typed.filter(([option, value]) => value !== "" && String(value) !== option.default);
  return Object.fromEntries(changed.map(([{ name }, value]) => [name, value]));
}

/** Show values in the fields of `area`; a field without a value is unchanged. */
export function showOptions(area, values) {
  for (const control of area.querySelectorAll("[data-option]")) {
    const value = values[control.dataset.option];
    if (value === undefined) continue;
    if (control.type === "checkbox") control.checked = value;
    else control.value = value;
  }
}

function typedValue({ kind }, value) {
  return ["whole", "decimal"].includes(kind) && value.trim() !== "" ? Number(value) : value;
}

const CHOICES = {
  lca: "their nearest common value",
  "fewest-values": "the one with fewest values",
  first: "the first column",
  "min-sum": "the least sum of ranges",
  "min-max": "the least largest range",
  "contiguous-min-max": "neighbours, the least largest range",
  "weighted-min-sum": "the least weighted sum of ranges",
  random: "chance",
  "qi-aware": "along a quasi-identifier",
  recoding: "the groups of another model",
  "one-table": "one table",
  "two-tables": "two tables",
  "c-dm": "discernibility",
  "c-avg": "size of groups",
  "last-column-first": "the last column first",
  "first-column-first": "the first column first",
  "as-given": "as given",
  "fixed-parameter": "exactly, for few patterns",
  matching: "exactly, for k = 2",
  "full-domain": "Full-domain",
  mondrian: "Mondrian",
  "relaxed-mondrian": "Relaxed Mondrian",
  local: "Local recoding",
};

/** Return choices with their labels. */
function worded(choices) {
  return choices.map((each) => [each, CHOICES[each] ?? (each === "" ? "by default" : each.replaceAll("-", " "))]);
}

function optionControl({ kind, label, choices, repeatable, default: initial }, columns) {
  const { sensitive, quasiIdentifiers, original } = columns;
  if (kind === "flag") return checkbox(label);
  if (kind === "column") return select([["", "choose a column"], ...original]);
  if (kind === "sensitive") return select(sensitive);
  if (kind === "quasi-identifiers")
    return select(quasiIdentifiers, { multiple: true, size: Math.min(5, quasiIdentifiers.length) });
  if (kind === "choice" || kind === "model") return select(worded(choices), { value: initial ?? choices[0] });
  if (repeatable || kind === "numbers")
    return h("textarea", { class: "input mono", rows: 2, spellcheck: "false", maxlength: 4000 });
  // A number that may also be a word is typed as text.
  const isNumber = ["whole", "decimal"].includes(kind) && choices.length === 0;
  return input({ type: isNumber ? "number" : "text", step: kind === "decimal" ? "any" : "1", value: initial ?? "" });
}

function valueOf(control) {
  if (control.type === "checkbox") return control.checked;
  return control.multiple ? [...control.selectedOptions].map((option) => option.value) : control.value;
}
