// Forms: fields and the button that sends them, an error beside its field, and where a job is sent its result.

import { errorText } from "../api.js";
import { clear, h } from "../dom.js";
import { latest } from "../turns.js";
import { runJob } from "./job.js";
import { button } from "./parts.js";

/**
 * A form with the button `send`, `actions` beside it, and `below` them what tells how it goes on. `onSend()` is called
 * without an error in sight; what it throws is told in the form. `check()` says whether it may be sent, and tells what
 * is wrong. `.send()` is what the button does, `.sender` the button. With `tray` these stand at the foot of the page.
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
      ? h("div", { class: "form-tray" }, h("div", { class: "form-told" }, below, formError()), actions, sender)
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
 * A form that sends a job: `start()` gives `{job}`, `place` shows how it goes on under `title()`, and
 * `onResult(result)` shows what came of it. The button rests meanwhile; of jobs that `.send()` started only the last
 * one's result counts.
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

/** Where a form tells an error that belongs to none of its fields. */
export function formError() {
  return h("p", { class: "form-error", role: "alert" });
}

/** Tell an error beside its field, else where the form tells what belongs to none; the field that has it, if any. */
export function tellError(element, error) {
  clearErrors(element);
  const names = error.field ? [error.field, error.field.split(".")[0], error.field.split(".").at(-1)] : [];
  const place = names
    .map((name) => element.querySelector(`[data-field="${CSS.escape(name)}"]`))
    .find((each) => each?.setError);
  if (place) place.setError(errorText(error));
  else clear(element.querySelector(".form-error"), errorText(error));
  return place ?? null;
}

/** The same, and go to the field that has it. */
export function showError(element, error) {
  tellError(element, error)?.control.focus();
}

/** Take all errors of a form away. */
export function clearErrors(element) {
  for (const place of element.querySelectorAll("[data-field]")) place.setError?.(null);
  clear(element.querySelector(".form-error"));
}
