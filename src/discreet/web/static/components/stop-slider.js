// A slider over chosen stops, with a number field for whatever lies between.

import { h, uid } from "../dom.js";
import { number } from "../format.js";

/** A slider over stops, and a number field for anything between: whole numbers alone unless `whole` is false. */
export function stopSlider({ label, hint, name, stops, least, most, onInput, whole = true }) {
  const id = uid("stop");
  const slider = h("input", { type: "range", id, name, min: 0, max: stops.length - 1, step: 1, class: "range" });
  const field = h("input", {
    type: "number",
    class: "input number",
    min: least,
    max: most,
    step: whole ? 1 : "any",
    aria: { label: `${label}, as a number` },
  });
  const control = { value: least, slider, field };
  const show = () => showStop(slider, stops, control.value, number(control.value));
  control.set = (value) => {
    control.value = value;
    field.value = value;
    show();
  };
  slider.addEventListener("input", () => {
    control.set(stops[Number(slider.value)]);
    onInput();
  });
  field.addEventListener("input", () => {
    const value = whole ? Math.floor(Number(field.value)) : Number(field.value);
    const wrong = field.value === "" || !(value >= least && value <= most);
    field.setAttribute("aria-invalid", String(wrong));
    if (wrong) return;
    control.value = value;
    show();
    onInput();
  });
  field.addEventListener("blur", () => {
    field.value = control.value;
    field.removeAttribute("aria-invalid");
  });
  control.element = h(
    "div",
    { class: "stop-slider" },
    h("label", { for: id }, h("b", {}, label), h("span", { class: "muted small" }, ` ${hint}`)),
    field,
    slider,
  );
  return control;
}

/** Put a slider at the last stop that is no more than `value`, which `words` tell. */
export function showStop(slider, stops, value, words) {
  const at = Math.max(
    0,
    stops.findLastIndex((stop) => stop <= value),
  );
  slider.value = at;
  slider.setAttribute("aria-valuetext", words);
  slider.style.setProperty("--filled", `${(100 * at) / Math.max(1, stops.length - 1)}%`);
}
