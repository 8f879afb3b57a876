// The sources of a table: a dropped file, one of the server's, an earlier upload, a database, the sample.

import { errorText, get } from "../api.js";
import { dropZone } from "../components/drop-zone.js";
import { field, input } from "../components/field.js";
import { form } from "../components/form.js";
import { button, notice, panel } from "../components/parts.js";
import { announce } from "../components/status.js";
import { clear, h } from "../dom.js";
import { bytes, count } from "../format.js";
import { icon } from "../icons.js";
import { databases } from "./databases.js";
import { beginTour } from "../tour.js";

const DATA =
  ".csv,.tsv,.txt,.tab,.parquet,.pq,.json,.jsonl,.ndjson,.gz," +
  ".xlsx,.sav,.zsav,.dta,.sas7bdat,.xpt,.sqlite,.sqlite3,.db3,.db,.toml";

/** A zone where a table or a spec is dropped; `onFile(file)`. */
export function dropTable({ limits }, onFile) {
  return dropZone(
    { accept: DATA, tone: "primary", onFile },
    h("span", { class: "drop-icon" }, icon("upload")),
    h("h2", {}, "Drop a file here"),
    h(
      "p",
      { class: "muted" },
      `CSV, TSV, a spreadsheet (.xlsx), a SQLite file, Parquet or JSON lines, up to ${bytes(limits.max_upload)}; ` +
        "or a spec (discreet.toml).",
    ),
  );
}

/** All other sources; `onOpen(path)` and `onTable(database, table)` fail if there is no such table, `onSample()`. */
export function otherWays(workspace, { onOpen, onReopen, onTable, onSample }) {
  return [
    serverFile(workspace, onOpen),
    uploadedBefore(workspace.uploads, onReopen),
    databases(onTable),
    panel(
      { title: "No file yet?" },
      h("p", {}, "Try everything with a census of 30,000 invented people: ages, places, occupations and a diagnosis."),
      h(
        "div",
        { class: "row" },
        button("Open the sample", { onClick: onSample }),
        h("button", { class: "as-link", type: "button", on: { click: beginTour } }, "Take the tour of three minutes"),
      ),
    ),
  ];
}

function serverFile({ root }, onOpen) {
  const title = "A file of the server";
  if (root === null) {
    return panel(
      { title },
      h(
        "p",
        { class: "muted" },
        "This server opens no local files: start it with ",
        h("code", {}, "discreet serve --root FOLDER"),
        " to choose files below a folder.",
      ),
    );
  }
  const control = input({ placeholder: `${root.replace(/\/$/, "")}/people.csv`, class: "mono" });
  const listing = h("div", {});
  const choose = (path) => {
    control.value = path;
    control.focus();
  };
  const open = (path) => {
    control.value = path;
    return element.send();
  };
  const element = form(
    {
      kind: "form",
      send: "Open",
      onSend: () => onOpen(control.value.trim()),
      actions: [button("Browse", { icon: "folder", onClick: () => browse(listing, choose, open) })],
    },
    field({
      label: "Path below the root",
      hint:
        `Root: ${root}. A folder of Parquet files or of Delta Lake is a table, ` +
        "and a spec (.toml) may be opened too.",
      control,
      name: "path",
    }),
  );
  element.append(listing);
  return panel({ title }, element);
}

/**
 * List a folder of the server in `place`; `onChoose(path)` for a file, `onFolder(path)` for a folder that is a table.
 */
async function browse(place, onChoose, onFolder, folder = "") {
  try {
    const found = await get(`/api/workspace/files?folder=${encodeURIComponent(folder)}`);
    const go = (path) => browse(place, onChoose, onFolder, path);
    clear(
      place,
      h("p", { class: "small muted mono" }, found.folder),
      found.table &&
        h(
          "div",
          { class: "row" },
          h(
            "span",
            { class: "grow" },
            found.table === "Parquet" ? "A folder of Parquet files." : `A table of ${found.table}.`,
          ),
          button("Open this folder as one table", { small: true, onClick: () => onFolder(found.folder) }),
        ),
      h(
        "ul",
        { class: "listing" },
        found.parent !== null && entry({ name: "one folder up", kind: "folder" }, () => go(found.parent)),
        found.entries.map((each) => entry(each, () => (each.kind === "folder" ? go(each.path) : onChoose(each.path)))),
        found.entries.length === 0 && h("li", { class: "muted small" }, "No folder and no data file here."),
      ),
    );
    announce(`${count(found.entries.length, "entry", "entries")} in ${found.folder}`);
  } catch (error) {
    clear(place, notice(errorText(error), "bad"));
  }
}

function uploadedBefore(files, onOpen) {
  if (files.length === 0) return null;
  return panel(
    { title: "Previous uploads" },
    h(
      "ul",
      { class: "listing" },
      files.map((file) => entry({ ...file, kind: "file" }, () => onOpen(file.path))),
    ),
  );
}

function entry({ name, kind, size = null }, onClick) {
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "entry", on: { click: onClick } },
      icon(kind),
      h("span", { class: "grow" }, name),
      size !== null && h("span", { class: "muted small number" }, bytes(size)),
    ),
  );
}
