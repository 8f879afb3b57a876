// Named attacks: each is chosen, gets its options, is run, and its declared results are shown.

import { query } from "../api.js";
import { field, select } from "../components/field.js";
import { jobForm, showError } from "../components/form.js";
import { chosenOptions, optionField } from "../components/option-field.js";
import { facts, notice, panel } from "../components/parts.js";
import { scriptActions } from "../components/script-actions.js";
import { wideTable } from "../components/table.js";
import { clear, h } from "../dom.js";
import { grouped, number, share, significant } from "../format.js";
import { attackFiles } from "./attack-files.js";
import { sideTable } from "./sides.js";

const SHOW = "Show individual persons";

/**
 * The panel of named attacks. `attackBody()` returns the common options of attacks, `columns` are the original's,
 * `others()` the names of the other releases; `.begin()` clears the results.
 */
export function namedAttack({ attackBody, attacks, columns, others, context: { signal, announce } }) {
  const found = h("div", { class: "stack" });
  const options = h("div", { class: "form columns" });
  const text = h("p", { class: "muted" });
  const files = attackFiles({ signal });
  const choice = field({
    label: "Attack to try",
    name: "by",
    control: select(
      attacks.map((attack) => [attack.name, grouped(attack.title)]),
      { value: attacks[0].name },
    ),
  });
  const chosen = () => attacks.find((attack) => attack.name === choice.control.value);
  function showChosen() {
    clear(text, grouped(chosen().text));
    clear(
      options,
      chosen().fields.map((option) => optionField(option, { original: columns })),
    );
    files.offer(chosen(), others());
    clear(found);
  }
  choice.control.addEventListener("change", showChosen);
  let persons = false;
  const body = () => ({
    ...attackBody(),
    ...files.body(),
    by: chosen().name,
    options: chosenOptions(options),
    persons,
  });
  const form = jobForm(
    {
      send: "Try",
      title: () => chosen().title,
      place: found,
      actions: scriptActions("attack", body, { onError: (error) => showError(form, error), signal }),
      check: () => files.check(),
      start: () => {
        const sent = body();
        persons = false;
        return query("/api/attacker/jobs", sent, { signal });
      },
      signal,
      onResult: ({ findings }) => {
        clear(found, findings.map(finding));
        announce(`${chosen().title}: done.`);
      },
    },
    choice,
    text,
    files,
    options,
  );
  const element = panel(
    { title: "Further attacks", note: "Results of attackers with more knowledge or effort." },
    form,
    found,
  );
  element.begin = showChosen;
  showChosen();
  return element;

  function finding(each) {
    if (each.skipped) return notice(`Not tried: ${each.skipped}.`, "plain");
    const shows = each.tables.some((table) => table.persons);
    return h(
      "div",
      { class: "stack" },
      figuresOf(each),
      each.tables.map(foundTable),
      each.notes.map((note) => notice(grouped(note), "plain")),
      !shows && h("p", {}, h("button", { class: "as-link", type: "button", on: { click: withPersons } }, SHOW)),
    );
  }

  function withPersons() {
    persons = true;
    form.send();
  }
}

/** Show figures of original and release as a table, and other figures next to each other. */
function figuresOf({ figures, title }) {
  const sides = new Map();
  const others = [];
  for (const figure of figures) {
    const [, label, side] = /^(.*), (original|release)$/.exec(figure.label) ?? [];
    if (label === undefined) others.push(figure);
    else sides.set(label, { ...sides.get(label), [side]: written(figure.value, figure.kind) });
  }
  const before = [...sides.values()].some(({ original }) => original !== undefined) ? "original" : null;
  return h(
    "div",
    { class: "stack" },
    others.length > 0 &&
      facts(others.map(({ label, kind, value }) => ({ label: grouped(label), value: written(value, kind) }))),
    sides.size > 0 &&
      sideTable(
        { before, after: "release" },
        {
          label: `Before and after: ${title}`,
          caption: title,
          rows: [...sides].map(([label, values]) => [grouped(label), (side) => values[side] ?? "–"]),
        },
      ),
  );
}

function foundTable({ title: name, columns, rows, note }) {
  const title = grouped(name);
  return h(
    "div",
    { class: "stack" },
    h("h3", {}, title),
    wideTable({
      label: title,
      caption: title,
      dense: true,
      rows,
      columns: columns.map((column, place) => ({
        key: `${place}`,
        title: grouped(column.title),
        number: column.kind !== "text",
        head: place === 0,
        render: (row) => written(row[place], column.kind),
      })),
    }),
    note && h("p", { class: "muted small" }, grouped(note)),
  );
}

function written(value, kind) {
  if (value === null) return "–";
  if (typeof value === "string" || kind === "text") return `${value}`;
  if (kind === "chance") return share(value, 1);
  return kind === "count" ? number(value) : significant(value, 4);
}
