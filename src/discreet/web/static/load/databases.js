// A table of a database: the server knows its address by a name; no page receives or sends the address.

import { errorText, get, query } from "../api.js";
import { field, input } from "../components/field.js";
import { button, notice, panel } from "../components/parts.js";
import { announce } from "../components/status.js";
import { clear, h } from "../dom.js";
import { count } from "../format.js";
import { icon } from "../icons.js";

const MANY = 8;

/** The named databases of the server and their tables; `onTable(database, table)` opens one. */
export function databases(onTable) {
  const list = h("div", { class: "stack" });
  const element = h(
    "details",
    { class: "card databases", on: { toggle: () => element.open && show(list, onTable) } },
    h("summary", {}, "A table of a database"),
    list,
  );
  return element;
}

async function show(place, onTable) {
  try {
    const { allowed, databases: known } = await get("/api/load/databases");
    const tables = h("div", { class: "stack" });
    if (!allowed) {
      clear(place, h("p", { class: "small" }, "This server has several users, and opens no databases for them."));
      return;
    }
    clear(
      place,
      h(
        "p",
        { class: "small" },
        "The table stays in its database: rows are counted, recoded and audited there. Choose the database by its " +
          "configured name; user and password are neither shown nor stored.",
      ),
      known.length > 0 &&
        h(
          "ul",
          { class: "listing" },
          known.map((each) => entry(each, tables, onTable)),
        ),
      tables,
      howToName(known.length === 0),
    );
  } catch (error) {
    clear(place, notice(errorText(error), "bad"));
  }
}

function howToName(open) {
  return h(
    "details",
    { open },
    h("summary", { class: "small" }, open ? "No database is configured" : "Add another one"),
    h(
      "p",
      { class: "small muted" },
      "Before the workbench is started, put the address into an environment variable, such as ",
      h("code", {}, "CLINIC=postgresql://ann@db.example/clinic"),
      ", or name it in the file ",
      h("code", {}, ".pg_service.conf"),
      " of your home folder. Passwords can be stored in ",
      h("code", {}, ".pgpass"),
      ".",
    ),
  );
}

function entry(database, place, onTable) {
  const words = database.service ? "service file" : "environment variable";
  return h(
    "li",
    {},
    choice(
      "folder",
      database.name,
      ({ currentTarget }) => {
        currentTarget.closest("ul").querySelector("[aria-current]")?.removeAttribute("aria-current");
        currentTarget.setAttribute("aria-current", "true");
        showTables(database, place, onTable);
      },
      words,
    ),
  );
}

function choice(kind, name, onClick, words = null) {
  return h(
    "button",
    { type: "button", class: "entry", on: { click: onClick } },
    icon(kind),
    h("span", { class: "grow" }, name),
    words && h("span", { class: "muted small" }, words),
  );
}

async function showTables(database, place, onTable) {
  const again = () => showTables(database, place, onTable);
  clear(place, h("p", { class: "small muted", role: "status" }, `Connecting to ${database.name} …`));
  try {
    const { tables } = await query("/api/load/tables", database);
    clear(place, tableList(database, tables, onTable));
    place.querySelector("input, button")?.focus();
    announce(`${count(tables.length, "table")} in ${database.name}`);
  } catch (error) {
    clear(place, notice([errorText(error), " ", button("Try again", { small: true, onClick: again })], "bad"));
  }
}

function tableList(database, tables, onTable) {
  if (tables.length === 0) return notice(`The server's user may read no table in ${database.name}.`, "warning");
  const wrong = h("div", { role: "alert" });
  const open = async (table) => {
    clear(wrong);
    try {
      await onTable(database, table);
    } catch (error) {
      if (error.name !== "AbortError") clear(wrong, notice(errorText(error), "bad"));
    }
  };
  const list = h("ul", { class: "listing" });
  const fill = (part) => {
    const fitting = tables.filter((table) => table.toLowerCase().includes(part.toLowerCase()));
    clear(
      list,
      fitting.map((table) =>
        h(
          "li",
          {},
          choice("file", table, () => open(table)),
        ),
      ),
      fitting.length === 0 && h("li", { class: "muted small" }, "No table name contains this text."),
    );
  };
  const search = input({ on: { input: () => fill(search.value.trim()) } });
  fill("");
  return panel(
    { title: `Tables of ${database.name}` },
    tables.length > MANY && field({ label: "Find a table", control: search, name: "find" }),
    list,
    wrong,
  );
}
