// The options of a model, each with the control that its kind needs.

import { h } from "../dom.js";
import { checkbox, field, input, select } from "../components/field.js";

/** A field for one option of a model. */
export function optionField(option, columns) {
  const control = optionControl(option, columns);
  (control.box ?? control).dataset.option = option.name;
  return option.kind === "flag" ? control : field({ label: option.label, hint: option.hint || null, control });
}

/** What was chosen in the fields of `area`, by option. */
export function chosenOptions(area) {
  const controls = [...area.querySelectorAll("[data-option]")];
  return Object.fromEntries(controls.map((control) => [control.dataset.option, valueOf(control)]));
}

function optionControl({ kind, label, choices, repeatable, default: initial }, { sensitive, quasiIdentifiers }) {
  if (kind === "flag") return checkbox(label);
  if (kind === "sensitive") return select(sensitive);
  if (kind === "quasi-identifiers")
    return select(quasiIdentifiers, { multiple: true, size: Math.min(5, quasiIdentifiers.length) });
  if (kind === "choice" || kind === "model") return select(choices, { value: initial ?? choices[0] });
  if (repeatable || kind === "numbers")
    return h("textarea", { class: "input mono", rows: 2, spellcheck: "false", maxlength: 4000 });
  // A number that may be a word too is typed as a text.
  const isNumber = ["whole", "decimal"].includes(kind) && choices.length === 0;
  return input({ type: isNumber ? "number" : "text", step: kind === "decimal" ? "any" : "1", value: initial ?? "" });
}

function valueOf(control) {
  if (control.type === "checkbox") return control.checked;
  return control.multiple ? [...control.selectedOptions].map((option) => option.value) : control.value;
}
