// The destination of a release: a file of the workspace, or a table of the source's database.

import { clear, h } from "../dom.js";
import { checkbox, field, input, segmented, select } from "../components/field.js";

const FORMATS = {
  ".csv": "CSV",
  ".parquet": "Parquet",
  ".sqlite": "SQLite",
  ".sav": "SPSS",
  ".zsav": "SPSS, compressed",
  ".dta": "Stata",
  ".xpt": "SAS transport",
  ".duckdb": "DuckDB database",
};

/** `parts` for a form, `body()` in the form of the server, `offer(formats)`, and `propose(name)`. */
export function destination(database) {
  const called = database?.replace(/^env:/, ""); // the name of a variable, as on Load
  const name = field({
    label: "Name",
    name: "name",
    hint: "Of the file, without its suffix.",
    control: input({ required: true }),
  });
  const ending = select([]);
  const file = h("div", { class: "form columns" }, name, field({ label: "Format", name: "format", control: ending }));
  const table = field({
    label: "Table",
    name: "table",
    hint: `Schema and name, such as out.people, in ${called}: a schema in which you may create tables.`,
    control: input({ placeholder: "out.people" }),
  });
  let place = "file";
  const choose = (value) => {
    place = value;
    file.hidden = place !== "file";
    table.hidden = place !== "table";
  };
  const where = segmented({
    label: "The release is",
    options: [
      ["file", "a file"],
      ["table", "a table of the database"],
    ],
    value: place,
    onChange: choose,
  });
  where.hidden = database === null;
  choose(place);
  const overwrite = checkbox("Replace a release of this name");
  return {
    parts: [where, file, table],
    overwrite,
    offer: (formats) =>
      clear(
        ending,
        formats.map((each) => h("option", { value: each }, FORMATS[each])),
      ),
    propose: (free) => {
      name.control.value = free;
    },
    body: () => ({
      ...(place === "table"
        ? { table: table.control.value.trim() }
        : { name: `${name.control.value.trim()}${ending.value}` }),
      overwrite: overwrite.box.checked,
    }),
  };
}

/** Return a name that no release has. */
export function freeName(releases) {
  const taken = new Set(releases.map((each) => each.name.replace(/\.\w+$/, "")));
  let place = 1;
  while (taken.has(`release-${place}`)) place += 1;
  return `release-${place}`;
}
