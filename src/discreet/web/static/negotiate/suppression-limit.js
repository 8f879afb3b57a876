// The limit of suppressed rows: in rows, or in percent.

import { showFault, showStop } from "../components/stop-slider.js";
import { h, uid } from "../dom.js";
import { number } from "../format.js";

const PERCENT_STOPS = [
  0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30,
  40, 50, 60, 70, 80, 90, 100,
];

/** A slider, a field of rows and one of percent; the last one changed sets the request: `.value`, `.set(value)`. */
export function suppressionLimit(rows, onInput) {
  const id = uid("limit");
  const slider = h("input", {
    type: "range",
    id,
    name: "max_suppressed",
    min: 0,
    max: PERCENT_STOPS.length - 1,
    step: 1,
    class: "range",
  });
  const typed = (unit, max, step) =>
    h("input", {
      type: "number",
      dataset: { live: "" },
      class: "input number",
      min: 0,
      max,
      step,
      aria: { label: `Maximum suppression in ${unit}` },
    });
  const inRows = typed("rows", rows, 1);
  const inPercent = typed("percent", 100, "any");
  const fault = h("p", { class: "field-error", id: `${id}-error`, role: "alert", hidden: true });
  const control = { value: 0 };
  const percentOf = () =>
    typeof control.value === "number"
      ? rows > 0
        ? (100 * control.value) / rows
        : 0
      : Number(control.value.slice(0, -1));
  const rowsOf = () =>
    typeof control.value === "number"
      ? Math.min(control.value, rows)
      : Math.floor((Number(control.value.slice(0, -1)) * rows) / 100 + 1e-9);
  const show = (source) => {
    const percent = percentOf();
    showStop(slider, PERCENT_STOPS, percent + 1e-9, `${plain(percent)}%, ${number(rowsOf())} rows`);
    if (source !== inRows) inRows.value = rowsOf();
    if (source !== inPercent) inPercent.value = plain(percent);
  };
  const take = (value, source) => {
    for (const field of [inRows, inPercent]) if (field !== source) showFault(field, fault, null);
    control.value = value;
    show(source);
    onInput();
  };
  slider.addEventListener("input", () => take(`${PERCENT_STOPS[Number(slider.value)]}%`, slider));
  const typing = (field, most, value) => {
    field.addEventListener("input", () => {
      const found = Number(field.value);
      const wrong = field.value === "" || !(found >= 0 && found <= most);
      const unit = field === inRows ? "rows" : "percent";
      const words = `Enter 0 to ${number(most)} ${unit}. The current limit is ${number(rowsOf())} rows.`;
      showFault(field, fault, wrong ? words : null);
      if (!wrong) take(value(found), field);
    });
  };
  typing(inRows, rows, (found) => Math.floor(found));
  typing(inPercent, 100, (found) => `${plain(found)}%`);
  control.set = (value) => {
    control.value = /^\d+$/.test(String(value)) ? Number(value) : String(value).replace(/\s/g, "");
    show(null);
  };
  control.step = (by) => {
    const at = PERCENT_STOPS.findLastIndex((stop) => stop <= percentOf() + 1e-9);
    take(`${PERCENT_STOPS[Math.max(0, Math.min(PERCENT_STOPS.length - 1, at + by))]}%`, slider);
  };
  control.words = () => `${plain(percentOf())} %`;
  control.element = h(
    "div",
    { class: "stop-slider limit" },
    h("label", { for: id }, h("b", {}, "Suppressed"), h("span", { class: "muted" }, " at most,")),
    h("span", { class: "limit-rows" }, inRows, h("span", { class: "muted" }, "rows")),
    h("span", { class: "limit-percent" }, inPercent, h("span", {}, "%")),
    slider,
    fault,
  );
  return control;
}

function plain(value) {
  return String(Number(value.toFixed(4)));
}
