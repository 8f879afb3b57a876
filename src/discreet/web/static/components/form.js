// Forms: fields and their submit button, errors next to fields, and progress and result of a job.

import { errorText } from "../api.js";
import { clear, h } from "../dom.js";
import { latest } from "../turns.js";
import { runJob } from "./job.js";
import { button } from "./parts.js";

/**
 * A form with the button `send`, `actions` next to it, and `below` them its progress. `onSend()` is called after errors
 * are cleared; an error that it throws is shown in the form. `check()` returns true if the form may be sent, and shows
 * errors. `.send()` submits it, `.sender` is the button. With `tray` these are at the foot of the page.
 */
export function form(
  { send, onSend, actions = [], kind = "stack", below = null, check = null, tray = false },
  ...parts
) {
  const sender = button(send, { tone: "primary", type: "submit" });
  const element = h(
    "form",
    {
      class: kind,
      novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          if (sender.getAttribute("aria-disabled") !== "true") element.send();
        },
      },
    },
    parts,
    tray
      ? h("div", { class: "form-tray" }, h("div", { class: "form-messages" }, below, formError()), actions, sender)
      : [formError(), h("div", { class: "row" }, sender, actions), below],
  );
  element.sender = sender;
  element.send = async () => {
    clearErrors(element);
    if (check !== null && !check()) return;
    try {
      await onSend();
    } catch (error) {
      if (error.name !== "AbortError") showError(element, error);
    }
  };
  return element;
}

/**
 * A form that starts a job: `start()` returns `{job}`, `place` shows its progress under `title()`, and
 * `onResult(result)` shows its result. The button is disabled meanwhile; of several jobs started with `.send()` only
 * the last result is used.
 */
export function jobForm({ title, place, start, onResult, signal, ...about }, ...parts) {
  const turn = latest();
  const element = form({ ...about, onSend: run }, ...parts);
  async function run() {
    const isLast = turn();
    element.sender.setAttribute("aria-disabled", "true");
    const result = await runJob(place, title(), start, {
      signal,
      onError: (error) => isLast() && showError(element, error),
    });
    if (!isLast()) return;
    element.sender.removeAttribute("aria-disabled");
    if (result !== null) onResult(result);
  }
  return element;
}

/** The place for an error that belongs to no field. */
export function formError() {
  return h("p", { class: "form-error", role: "alert" });
}

/** Show an error next to its field, else in the form's general place; return the field, if any. */
export function showFieldError(element, error) {
  clearErrors(element);
  const names = error.field ? [error.field, error.field.split(".")[0], error.field.split(".").at(-1)] : [];
  const place = names
    .map((name) => element.querySelector(`[data-field="${CSS.escape(name)}"]`))
    .find((each) => each?.setError);
  if (place) place.setError(errorText(error));
  else clear(element.querySelector(".form-error"), errorText(error));
  return place ?? null;
}

/** Show an error and focus its field. */
export function showError(element, error) {
  showFieldError(element, error)?.control.focus();
}

/** Clear all errors of a form. */
export function clearErrors(element) {
  for (const place of element.querySelectorAll("[data-field]")) place.setError?.(null);
  clear(element.querySelector(".form-error"));
}
