// Labelled controls with their hint and their error.

import { h, uid } from "../dom.js";

/** An input. */
export function input(attributes = {}) {
  return h("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    ...attributes,
    class: `input ${attributes.class ?? ""}`.trim(),
  });
}

/** A select of `[value, label]` pairs or of texts. */
export function select(options, attributes = {}) {
  return h(
    "select",
    { ...attributes, class: `input ${attributes.class ?? ""}`.trim() },
    options.map((option) =>
      Array.isArray(option) ? h("option", { value: option[0] }, option[1]) : h("option", { value: option }, option),
    ),
  );
}

/** A checkbox with its label. */
export function checkbox(label, attributes = {}) {
  const box = h("input", { ...attributes, type: "checkbox" });
  const element = h("label", { class: "check" }, box, h("span", {}, label));
  element.box = box;
  return element;
}

/** A control with label, hint and a place for an error. `name` is its field in the server's request. */
export function field({ label, hint = null, control, name = null, optional = false }) {
  const id = control.id || uid("field");
  control.id = id;
  if (name !== null && !control.name) control.setAttribute("name", name);
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const error = h("p", { class: "field-error", id: errorId, hidden: true });
  const element = h(
    "div",
    { class: "field", dataset: { field: name } },
    h("label", { for: id }, label, optional && h("span", { class: "optional" }, " (optional)")),
    control,
    hint && h("p", { class: "hint", id: hintId }, hint),
    error,
  );
  if (hint) control.setAttribute("aria-describedby", hintId);
  element.control = control;
  element.setError = (words) => {
    error.hidden = !words;
    error.textContent = words ?? "";
    if (words) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
    const described = [hint && hintId, words && errorId].filter(Boolean).join(" ");
    if (described) control.setAttribute("aria-describedby", described);
    else control.removeAttribute("aria-describedby");
  };
  return element;
}

/** Radio buttons in one row of segments; `value` and `onChange(value)`. */
export function segmented({ label, options, value, onChange, name = uid("segment"), hideLabel = false }) {
  return h(
    "fieldset",
    { class: "field" },
    h("legend", { class: hideLabel ? "visually-hidden" : null }, label),
    h(
      "div",
      { class: "segmented" },
      options.map(([key, words]) =>
        h(
          "label",
          {},
          h("input", { type: "radio", name, value: key, checked: key === value, on: { change: () => onChange(key) } }),
          h("span", {}, words),
        ),
      ),
    ),
  );
}
