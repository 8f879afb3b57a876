// Builders of hierarchies: a form of parameters, checked and previewed while the user types.

import { query } from "../api.js";
import { checkbox, field, input, segmented, select } from "../components/field.js";
import { clearErrors, formError, showFieldError } from "../components/form.js";
import { button } from "../components/parts.js";
import { announce } from "../components/status.js";
import { clear, h } from "../dom.js";
import { draftOf, keepDraft } from "../drafts.js";
import { latest } from "../turns.js";
import { stepOfKeys } from "../undo-keys.js";
import { borders } from "./borders.js";
import { figures, strips } from "./levels.js";

const PAUSE = 220;

/** A builder for an attribute. `onSave(body)` is called to use it. */
export function builder({ attribute, answer, builders, signal, onSave }) {
  const flat = {
    kind: "flat",
    title: "Value → *",
    words: "Each value, then *, without a level between.",
    parameters: [],
  };
  const all = [flat, ...builders];
  const known = Object.fromEntries(
    all.map((each) => [
      each.kind,
      Object.fromEntries(each.parameters.map((parameter) => [parameter.name, parameter.initial])),
    ]),
  );
  if (known[answer.kind]) known[answer.kind] = { ...known[answer.kind], ...answer.typed };
  let kind = all.some((each) => each.kind === answer.kind) ? answer.kind : guess(answer);
  const draft = `builder.${attribute}`;
  const typed = draftOf(draft);
  if (typed !== null && known[typed.kind]) {
    kind = typed.kind;
    known[kind] = { ...known[kind], ...typed.typed };
  }
  let plot = null;
  const steps = { undo: [], redo: [] }; // earlier and later states of the form
  let pending = 0;
  const turn = latest();
  const form = h("div", { class: "stack" });
  const result = h("div", { class: "stack", aria: { live: "off" } });
  const use = button("Use this hierarchy", {
    tone: "primary",
    disabled: true,
    onClick: () => {
      keepDraft(draft, null);
      onSave({ attribute, kind, typed: known[kind] });
    },
  });

  function control(parameter) {
    const set = (value) => {
      known[kind][parameter.name] = value;
      keepDraft(draft, { kind, typed: known[kind] });
      plot?.redraw();
      clearTimeout(pending);
      pending = setTimeout(look, PAUSE);
    };
    const value = known[kind][parameter.name];
    if (parameter.form === "flag") {
      return h(
        "div",
        { class: "field" },
        checkbox(parameter.label, { checked: value === true, on: { change: (event) => set(event.target.checked) } }),
      );
    }
    let made;
    if (parameter.form === "choice") {
      made = select(parameter.choices, { value: value || parameter.initial, on: { change: () => set(made.value) } });
    } else if (parameter.form === "outline") {
      made = h("textarea", {
        class: "input mono",
        rows: "12",
        spellcheck: "false",
        value: value ?? "",
        on: { input: () => set(made.value) },
      });
      made.addEventListener("keydown", (event) => indent(event, made, set));
    } else {
      made = input({
        value: value ?? "",
        inputmode: ["number", "whole"].includes(parameter.form) ? "decimal" : null,
        on: { input: () => set(made.value) },
      });
    }
    return field({ label: parameter.label, hint: parameter.hint || null, control: made, name: parameter.name });
  }

  /** Set dragged bounds, which replace widths. */
  function bound(breaks) {
    steps.undo.push(known[kind]);
    steps.redo = [];
    show({ ...known[kind], breaks, widths: "" });
  }

  function show(wanted) {
    known[kind] = wanted;
    keepDraft(draft, { kind, typed: wanted });
    for (const name of ["breaks", "widths"]) form.querySelector(`[name=${name}]`).value = wanted[name];
    look();
  }

  /** Undo keys first take back dragged borders, then saved changes. */
  function step(event) {
    const which = stepOfKeys(event);
    if (which === null || kind !== "intervals" || steps[which].length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    steps[which === "undo" ? "redo" : "undo"].push(known[kind]);
    show(steps[which].pop());
    plot?.redraw();
    announce(which === "undo" ? "Borders restored" : "Borders moved again");
  }

  function drawForm() {
    const chosen = all.find((each) => each.kind === kind);
    plot = kind === "intervals" ? borders(answer, () => known.intervals, bound) : null;
    clear(
      form,
      h("p", { class: "muted" }, chosen.words),
      plot,
      h(
        "div",
        { class: chosen.parameters.some((parameter) => parameter.form === "outline") ? "form" : "form columns" },
        chosen.parameters.map(control),
      ),
      formError(),
    );
    look();
  }

  async function look() {
    const isLast = turn();
    try {
      const found = await query("/api/hierarchies/preview", { attribute, kind, typed: known[kind] }, { signal });
      if (!isLast()) return;
      clearErrors(form);
      use.disabled = false;
      clear(result, strips(found), figures(found));
    } catch (error) {
      if (error.name === "AbortError" || !isLast()) return;
      use.disabled = true;
      showFieldError(form, error);
      clear(result, h("p", { class: "muted" }, "The preview appears once the parameters are valid."));
    }
  }

  const element = h(
    "div",
    { class: "stack", on: { keydown: step } },
    segmented({
      label: "Builder",
      hideLabel: true,
      value: kind,
      options: all.map((each) => [each.kind, each.title]),
      onChange: (value) => {
        kind = value;
        drawForm();
      },
    }),
    form,
    h("h3", {}, "Preview"),
    result,
    h("div", { class: "row" }, use),
  );
  element.classList.add("builder");
  drawForm();
  return element;
}

function guess(answer) {
  const labels = answer.levels[0]?.labels ?? [];
  return labels.length > 8 && labels.every((label) => /^-?[0-9.]+$/.test(label)) ? "intervals" : "flat";
}

/** Indent by two spaces with Ctrl and bracket keys, because Tab leaves the field; the form's hint has an example. */
function indent(event, area, set) {
  const step = event.key === "]" && event.ctrlKey ? 1 : event.key === "[" && event.ctrlKey ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
  const end =
    area.value.indexOf("\n", area.selectionEnd) < 0 ? area.value.length : area.value.indexOf("\n", area.selectionEnd);
  const lines = area.value
    .slice(start, end)
    .split("\n")
    .map((line) => (step > 0 ? `  ${line}` : line.replace(/^ {1,2}/, "")));
  area.setRangeText(lines.join("\n"), start, end, "end");
  set(area.value);
}
