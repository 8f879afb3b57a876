// Attacks by name: each is chosen, told its options, tried, and shown as it declares itself.

import { post } from "../api.js";
import { field, select } from "../components/field.js";
import { jobForm, showError } from "../components/form.js";
import { chosenOptions, optionField } from "../components/option-field.js";
import { button, facts, notice, panel } from "../components/parts.js";
import { scriptActions } from "../components/script-actions.js";
import { wideTable } from "../components/table.js";
import { clear, h } from "../dom.js";
import { number, share } from "../format.js";
import { attackFiles } from "./attack-files.js";

/**
 * The panel of attacks by name. `asked()` is what every attack asks, `columns` are the original's, `others()` the names
 * of releases beside the attacked one; `.begin()` forgets what was found.
 */
export function namedAttack({ asked, attacks, columns, others, context: { signal, announce } }) {
  const found = h("div", { class: "stack" });
  const options = h("div", { class: "form columns" });
  const text = h("p", { class: "muted" });
  const files = attackFiles({ signal });
  const choice = field({
    label: "What the attacker tries",
    name: "by",
    control: select(
      attacks.map((attack) => [attack.name, attack.title]),
      { value: attacks[0].name },
    ),
  });
  const chosen = () => attacks.find((attack) => attack.name === choice.control.value);
  function showChosen() {
    clear(text, chosen().text);
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
    ...asked(),
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
        return post("/api/attacker/jobs", sent, { signal });
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
    { title: "Further attacks", note: "What an attacker with more knowledge or more patience gets." },
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
      facts(each.figures.map(({ label, kind, value }) => ({ label, value: written(value, kind) }))),
      each.tables.map(foundTable),
      each.notes.map((note) => notice(note, "plain")),
      !shows && button("Show single persons", { tone: "quiet", onClick: withPersons }),
    );
  }

  function withPersons() {
    persons = true;
    form.send();
  }
}

function foundTable({ title, columns, rows, note }) {
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
        title: column.title,
        number: column.kind !== "text",
        head: place === 0,
        render: (row) => written(row[place], column.kind),
      })),
    }),
    note && h("p", { class: "muted small" }, note),
  );
}

function written(value, kind) {
  if (value === null) return "–";
  if (typeof value === "string" || kind === "text") return `${value}`;
  if (kind === "chance") return share(value, 1);
  return kind === "count" ? number(value) : `${Number(value.toPrecision(4))}`;
}
