// The table of columns: a tick for the measured set, the role, the column's uniqueness, and the reason.

import { badge, button, meter, role } from "../components/parts.js";
import { toast } from "../components/status.js";
import { clear, h } from "../dom.js";
import { number, share } from "../format.js";
import { CHOICES } from "./roles.js";

/**
 * A table of columns with a filter by name. `ticked` is the set of ticked names. `onTick()` is called when it changes,
 * `onRole(column, role)` and `onWeight(column, weight)` to save a change.
 */
export class RolesTable {
  constructor({ ticked, onTick, onRole, onWeight }) {
    Object.assign(this, { ticked, onTick, onRole, onWeight, filter: "", only: null });
    this.element = h("div", { class: "columns-table" });
  }

  show({ columns, rows }) {
    Object.assign(this, { columns, rows });
    this.draw();
  }

  find(words) {
    this.filter = words.trim().toLowerCase();
    this.only = null;
    this.draw();
  }

  /** Show only the columns with the given names. */
  findThese(names) {
    this.only = new Set(names);
    this.draw();
    this.element.querySelector("select")?.focus();
  }

  draw() {
    const shown = this.columns.filter(
      ({ name }) => (this.only === null || this.only.has(name)) && name.toLowerCase().includes(this.filter),
    );
    const head = (words, kind = "") => h("th", { scope: "col", class: kind }, words);
    clear(
      this.element,
      h(
        "table",
        { class: "table roles" },
        h(
          "caption",
          { class: "visually-hidden" },
          "Columns, their roles and uniqueness. Arrow keys up and down move between rows.",
        ),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head(this.tickOfAll(shown), "tick"),
            head("Column"),
            head("Role"),
            head("Values", "number"),
            head("Unique rows", "number"),
            head("Weight", "number"),
            head("Why"),
          ),
        ),
        h(
          "tbody",
          { on: { keydown: moveBetweenRows } },
          shown.map((column) => this.line(column)),
        ),
      ),
      shown.length === 0 && h("p", { class: "muted pad" }, "No column name contains this text."),
    );
  }

  /** Draw the state after a change was saved; the focused control keeps the focus. */
  refresh(answer) {
    const focused = document.activeElement;
    const name = focused?.closest("tr[data-column]")?.dataset.column;
    const label = focused?.getAttribute("aria-label") ?? "";
    this.show(answer);
    const line = name && this.element.querySelector(`tr[data-column="${CSS.escape(name)}"]`);
    if (line) (line.querySelector(`[aria-label="${CSS.escape(label)}"]`) ?? line.querySelector("select")).focus();
  }

  tick(name, on) {
    this.ticked[on ? "add" : "delete"](name);
  }

  tickOfAll(shown) {
    const box = h("input", {
      type: "checkbox",
      class: "box",
      aria: { label: "All of these columns in the set" },
      on: {
        change: () => {
          for (const column of shown) this.tick(column.name, box.checked);
          this.draw();
          this.onTick();
        },
      },
    });
    this.sync = () => {
      const many = shown.filter((column) => this.ticked.has(column.name)).length;
      box.checked = many === shown.length && many > 0;
      box.indeterminate = many > 0 && many < shown.length;
    };
    this.sync();
    return box;
  }

  line(column) {
    const { rows } = this;
    const uniqueShare = column.unique_rows / Math.max(1, rows);
    const figure = (label, ...content) => h("td", { class: "number", dataset: { label } }, content);
    return h(
      "tr",
      { dataset: { column: column.name } },
      h("td", { class: "tick" }, this.tickOf(column)),
      h(
        "th",
        { scope: "row" },
        h("span", { class: "name" }, column.name),
        h("span", { class: "examples" }, column.examples.length > 0 ? column.examples.join(" · ") : "no value"),
      ),
      h("td", {}, this.roleOf(column)),
      figure(
        "Values",
        number(column.values),
        column.null_rows > 0 && h("span", { class: "muted small block" }, `${share(column.null_rows, rows)} NULL`),
      ),
      figure(
        "Unique rows",
        share(column.unique_rows, rows),
        meter(uniqueShare, {
          label: `${share(column.unique_rows, rows)} of the rows are unique by ${column.name}`,
          tone: uniquenessTone(uniqueShare),
        }),
      ),
      figure("Weight", column.role === "quasi-identifier" ? this.weightOf(column) : h("span", { class: "muted" }, "–")),
      h(
        "td",
        { class: "why" },
        column.role !== column.proposed &&
          h(
            "span",
            { class: "proposal" },
            "Proposed: ",
            role(column.proposed),
            button("Use it", { small: true, tone: "quiet", onClick: () => this.onRole(column, column.proposed) }),
          ),
        h("span", { class: "small reason" }, sentence(column.reason)),
        column.form && column.role === "identifier" && h("span", { class: "small reason" }, `Left out. ${column.form}`),
        column.subject && badge("subject", "accent"),
      ),
    );
  }

  tickOf({ name }) {
    const box = h("input", {
      type: "checkbox",
      class: "box",
      checked: this.ticked.has(name),
      aria: { label: `${name} in the set` },
      on: {
        change: () => {
          this.tick(name, box.checked);
          this.sync();
          this.onTick();
        },
      },
    });
    return box;
  }

  roleOf(column) {
    const choice = h(
      "select",
      {
        class: `input role-choice ${column.role ?? "unlisted"}`,
        value: column.role ?? "",
        disabled: column.subject,
        aria: { label: `Role of ${column.name}` },
        on: { change: () => this.onRole(column, choice.value) },
      },
      CHOICES.map(([value, words]) => h("option", { value }, words)),
    );
    return choice;
  }

  weightOf(column) {
    const control = h("input", {
      type: "number",
      class: "input number weight",
      min: "0.01",
      max: "1000000",
      step: "any",
      value: column.weight,
      aria: { label: `Weight of ${column.name}` },
      title: "How much its loss counts; 1 is usual",
      on: {
        change: () => {
          const wanted = Number(control.value);
          if (!(wanted > 0)) {
            control.setAttribute("aria-invalid", "true");
            toast(`The weight of ${column.name}: enter a number above 0.`, { tone: "bad" });
            return;
          }
          control.removeAttribute("aria-invalid");
          this.onWeight(column, wanted);
        },
      },
    });
    return control;
  }
}

/** Return the tone for a share of unique rows. */
export function uniquenessTone(part) {
  if (part > 0.2) return "bad";
  return part > 0.01 ? "warning" : "";
}

function moveBetweenRows(event) {
  const line = event.target.closest("tr");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !line || event.target.type === "number" || event.target.tagName === "SELECT") return;
  const next = step > 0 ? line.nextElementSibling : line.previousElementSibling;
  const place = [...line.querySelectorAll("input, select, button")].indexOf(event.target);
  const target = next?.querySelectorAll("input, select, button")[place] ?? next?.querySelector("input");
  if (target) {
    event.preventDefault();
    target.focus();
  }
}

function sentence(words) {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
