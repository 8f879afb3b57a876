// A slider over selected stops, with a number field for values between them.

import { h, uid } from "../dom.js";
import { number } from "../format.js";

/** A slider over stops, and a number field for other values: only whole numbers unless `whole` is false. */
export function stopSlider({ label, hint, name, stops, least, most, onInput, whole = true }) {
  const id = uid("stop");
  const slider = h("input", { type: "range", id, name, min: 0, max: stops.length - 1, step: 1, class: "range" });
  const field = h("input", {
    type: "number",
    dataset: { live: "" },
    class: "input number",
    min: least,
    max: most,
    step: whole ? 1 : "any",
    aria: { label: `${label}, as a number` },
  });
  const fault = h("p", { class: "field-error", id: `${id}-error`, role: "alert", hidden: true });
  const control = { value: least, slider, field };
  const show = () => showStop(slider, stops, control.value, number(control.value));
  control.set = (value) => {
    control.value = value;
    field.value = value;
    showFault(field, fault, null);
    show();
  };
  /** Move by a number of stops. */
  control.step = (by) => {
    const at = stops.findLastIndex((stop) => stop <= control.value);
    control.set(stops[Math.max(0, Math.min(stops.length - 1, at + by))]);
    onInput();
  };
  slider.addEventListener("input", () => {
    control.set(stops[Number(slider.value)]);
    onInput();
  });
  field.addEventListener("input", () => {
    const value = Number(field.value);
    const isKind = field.value !== "" && (!whole || Number.isInteger(value));
    const wrong = !isKind || !(value >= least && value <= most);
    showFault(field, fault, wrong ? faultOf({ whole, least, most, kept: number(control.value) }) : null);
    if (wrong) return;
    control.value = value;
    show();
    onInput();
  });
  control.element = h(
    "div",
    { class: "stop-slider" },
    h("label", { for: id }, h("b", {}, label), h("span", { class: "muted small" }, ` ${hint}`)),
    field,
    slider,
    fault,
  );
  return control;
}

function faultOf({ whole, least, most, kept }) {
  const range = most < 1e9 ? `from ${number(least)} to ${number(most)}` : `of at least ${number(least)}`;
  return `Enter ${whole ? "a whole number" : "a number"} ${range}. The current value is ${kept}.`;
}

/** Show an error next to a number field; null clears it. */
export function showFault(field, place, words) {
  place.hidden = words === null;
  place.textContent = words ?? "";
  if (words === null) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  } else {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", place.id);
  }
}

/** Set a slider to the last stop that is at most `value`; `words` is its accessible text. */
export function showStop(slider, stops, value, words) {
  const at = Math.max(
    0,
    stops.findLastIndex((stop) => stop <= value),
  );
  slider.value = at;
  slider.setAttribute("aria-valuetext", words);
  slider.style.setProperty("--filled", `${(100 * at) / Math.max(1, stops.length - 1)}%`);
}
