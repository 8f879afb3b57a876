// A list of short texts edited as chips: type and press Enter, remove by its button or Backspace.

import { clear, h, uid } from "../dom.js";
import { icon } from "../icons.js";
import { announce } from "./status.js";

/** `values`, `onChange(values)`, `suggestions` that one click adds. An empty text is shown as (empty). */
export function chips({ label, hint = null, values, suggestions = [], onChange, placeholder = "" }) {
  let current = [...values];
  const id = uid("chips");
  const list = h("ul", { class: "chips", aria: { label: `${label}: chosen` } });
  const offered = h("div", { class: "row" });
  const control = h("input", {
    class: "input",
    id,
    placeholder,
    autocomplete: "off",
    spellcheck: "false",
    aria: { describedby: hint ? `${id}-hint` : null },
  });
  const add = (value) => {
    if (!current.includes(value)) change([...current, value], `${shown(value)} added`);
  };
  control.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (control.value !== "") add(control.value);
      control.value = "";
    } else if (event.key === "Backspace" && control.value === "" && current.length > 0) {
      change(current.slice(0, -1), `${shown(current.at(-1))} removed`);
    }
  });
  control.addEventListener("change", () => {
    if (control.value !== "") add(control.value);
    control.value = "";
  });
  function change(next, words) {
    current = next;
    draw();
    announce(words);
    onChange([...current]);
  }
  function draw() {
    clear(
      list,
      current.map((value) =>
        h(
          "li",
          { class: "chip" },
          h("span", { class: "mono" }, shown(value)),
          h(
            "button",
            {
              type: "button",
              aria: { label: `Remove ${shown(value)}` },
              on: {
                click: () => {
                  change(
                    current.filter((each) => each !== value),
                    `${shown(value)} removed`,
                  );
                  control.focus();
                },
              },
            },
            icon("close"),
          ),
        ),
      ),
    );
    list.hidden = current.length === 0;
    const open = suggestions.filter((value) => !current.includes(value));
    clear(
      offered,
      open.length > 0 && h("span", { class: "muted small" }, "Add:"),
      open.map((value) =>
        h("button", { class: "button small", type: "button", on: { click: () => add(value) } }, shown(value)),
      ),
    );
    offered.hidden = open.length === 0;
  }
  draw();
  const element = h(
    "div",
    { class: "field", dataset: { field: "null_values" } },
    h("label", { for: id }, label),
    list,
    control,
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
    offered,
  );
  element.control = control;
  element.setError = () => {};
  return element;
}

function shown(value) {
  return value === "" ? "(empty text)" : value;
}
