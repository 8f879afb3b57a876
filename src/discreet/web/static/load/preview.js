// The preview of an open table: its first rows as they are read, or the location of its rows.

import { badge, panel, wide } from "../components/parts.js";
import { h } from "../dom.js";
import { count } from "../format.js";

/** Show the first rows, cell by cell; for a table in a database only its columns. */
export function preview(view, { rows, inDatabase }) {
  return panel(
    {
      title: inDatabase ? "Columns of the table" : "First rows",
      flush: true,
      note: `${count(view.columns.length, "column")}${rows ? `, ${count(rows, "row")}` : ""}`,
    },
    wide(
      "The first rows",
      h(
        "table",
        { class: "table dense" },
        h("caption", { class: "visually-hidden" }, "The first rows, cells as they are read"),
        h("thead", {}, h("tr", {}, view.columns.map(head))),
        h(
          "tbody",
          {},
          view.preview.map((row) => h("tr", {}, row.map(cell))),
        ),
      ),
      { kind: "preview" },
    ),
  );
}

function head({ name, type, own_form: ownForm, format }) {
  return h(
    "th",
    { scope: "col" },
    name,
    type !== "VARCHAR" && h("span", { class: "muted small block" }, type.toLowerCase()),
    ownForm && h("span", { class: "muted small block", title: format }, `read as ${format}`),
  );
}

function cell(value) {
  if (value === null) return h("td", {}, badge("NULL"));
  if (value === "") return h("td", {}, badge("empty text", "warning"));
  return h("td", {}, h("div", { class: "cell", title: value.length > 60 ? value : null }, value));
}

/** Show the name of a table and its database. */
export function whereItIs({ table, database }) {
  const fact = (label, value) =>
    h("div", {}, h("dt", { class: "muted small" }, label), h("dd", { class: "break" }, value));
  return panel(
    { title: "Location of the rows" },
    h("dl", { class: "place-facts stack" }, fact("Table", table), fact("Database", database)),
    h(
      "p",
      { class: "small muted" },
      "Rows are counted there. No row is shown or copied to this machine until it is published as a file. Open " +
        "another table of the database below.",
    ),
  );
}
