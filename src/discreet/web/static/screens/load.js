// Screen 1, Load: a table dropped, named by its path or taken from a spec; its preview; how its cells are read.

import { cancel, errorText, follow, get, post, put, upload } from "../api.js";
import { chips } from "../components/chips.js";
import { checkbox, field, input, segmented, select } from "../components/field.js";
import { clearErrors, showError } from "../components/form.js";
import { badge, button, linkButton, notice, panel, screenHead } from "../components/parts.js";
import { progress } from "../components/progress.js";
import { announce, toast } from "../components/status.js";
import { clear, h, uid } from "../dom.js";
import { bytes, count } from "../format.js";
import { icon } from "../icons.js";

const ENCODINGS = ["utf-8", "utf-16", "latin-1", "windows-1252", "iso-8859-15", "mac-roman", "cp437"];
const DELIMITERS = [
  ["", "found in the header"],
  [",", "comma  ,"],
  [";", "semicolon  ;"],
  ["\t", "tab"],
  ["|", "bar  |"],
];
const FORMATS = [
  ["", "by the file's ending"],
  ["csv", "CSV"],
  ["tsv", "TSV"],
  ["parquet", "Parquet"],
  ["jsonl", "JSON lines"],
];
const DATA = ".csv,.tsv,.txt,.tab,.parquet,.pq,.json,.jsonl,.ndjson,.gz,.toml";

export async function show(root, context) {
  const screen = new LoadScreen(root, context);
  await screen.draw();
}

class LoadScreen {
  constructor(root, context) {
    Object.assign(this, { root, context, saving: Promise.resolve() });
    this.work = h("div", { class: "stack" });
  }

  async draw() {
    const { signal } = this.context;
    const [answer, workspace] = await Promise.all([get("/api/load", { signal }), get("/api/workspace", { signal })]);
    Object.assign(this, { answer, workspace });
    if (answer.source === null) this.drawEmpty();
    else this.drawTable();
  }

  drawEmpty() {
    clear(
      this.root,
      screenHead({
        title: "Load a table",
        lead: "One row per person, or several rows of one person. It stays on this machine: nothing is sent anywhere.",
      }),
      this.work,
      h(
        "div",
        { class: "split" },
        h("div", { class: "stack" }, this.dropZone(), this.whatComesNext()),
        h("div", { class: "stack" }, this.otherWays()),
      ),
    );
  }

  whatComesNext() {
    const steps = [
      ["Columns", "Each column gets a role; you see which columns single people out.", "2"],
      ["Hierarchies", "How values become coarser: 37, 35-39, 30-39, *.", "3"],
      ["Negotiate", "Ask for k and l, see every possible release, and what would have to give way.", "4"],
      ["Analyst and Attacker", "What the release still tells those who analyse it, and those who attack it.", "5–6"],
      ["Publish", "The release is written, counted again by an audit, and comes with its evidence.", "7"],
    ];
    return h(
      "section",
      { class: "card" },
      h("h2", {}, "What comes next"),
      h(
        "ol",
        { class: "next-steps" },
        steps.map(([title, words, places]) =>
          h(
            "li",
            {},
            h("span", { class: "place number", aria: { hidden: true } }, places),
            h("span", {}, h("b", {}, title), h("br"), h("span", { class: "muted small" }, words)),
          ),
        ),
      ),
    );
  }

  drawTable() {
    const { answer } = this;
    const { source, view } = answer;
    this.rows = h("div", { class: "stack" });
    const { place } = answer;
    const name = place ? place.table : source.path.split("/").at(-1);
    clear(
      this.root,
      screenHead({
        title: name,
        lead: place
          ? "The rows stay in the database: what comes here are their columns and how often values occur."
          : "Look at the first rows. If they look wrong, correct how the file is read; everything is saved at once.",
        actions: [linkButton("Next: Columns", "#/columns", { tone: "primary" })],
      }),
      this.work,
      answer.warnings.map((words) => notice(words, "warning")),
      h(
        "div",
        { class: "split" },
        h(
          "div",
          { class: "stack" },
          this.rows,
          h("div", { class: "split even" }, this.nullPolicy(source), this.people(source, view)),
          this.another(),
        ),
        h("div", { class: "stack sticky" }, place ? this.whereItIs(place) : this.reading(source, view)),
      ),
    );
    this.drawRows();
  }

  // --- a new table ---

  dropZone() {
    const id = uid("file");
    const control = h("input", {
      type: "file",
      id,
      class: "visually-hidden",
      accept: DATA,
      on: { change: () => this.take([...control.files]) },
    });
    const zone = h(
      "div",
      { class: "drop" },
      h("span", { class: "drop-icon" }, icon("upload")),
      h("h2", {}, "Drop a file here"),
      h(
        "p",
        { class: "muted" },
        `CSV, TSV, Parquet or JSON lines, up to ${bytes(this.workspace.limits.max_upload)}; or a spec (discreet.toml).`,
      ),
      control,
      h("label", { class: "button primary", for: id }, "Choose a file"),
    );
    zone.addEventListener("dragover", (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      this.take([...event.dataTransfer.files]);
    });
    return zone;
  }

  otherWays() {
    return [this.byPath(), this.uploads(), this.byAddress(), this.sample()];
  }

  byPath() {
    const { root } = this.workspace;
    if (root === null) {
      return panel(
        { title: "A file of the server" },
        h(
          "p",
          { class: "muted" },
          "This server opens no files of its own: start it with ",
          h("code", {}, "discreet serve --root FOLDER"),
          " to choose files below a folder.",
        ),
      );
    }
    const control = input({ placeholder: `${root.replace(/\/$/, "")}/people.csv`, class: "mono" });
    const path = field({
      label: "Path below the root",
      hint: `Root: ${root}. A spec (.toml) may be opened too.`,
      control,
      name: "path",
    });
    const listing = h("div", {});
    const form = h(
      "form",
      { class: "form" },
      path,
      h("p", { class: "form-error", role: "alert" }),
      h(
        "div",
        { class: "row" },
        button("Open", { tone: "primary", type: "submit" }),
        button("Browse", { icon: "folder", onClick: () => this.browse(listing, control, "") }),
      ),
      listing,
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      clearErrors(form);
      try {
        await this.open(control.value.trim());
      } catch (error) {
        showError(form, error);
      }
    });
    return panel({ title: "A file of the server" }, form);
  }

  async browse(area, control, folder) {
    try {
      const found = await get(`/api/workspace/files?folder=${encodeURIComponent(folder)}`);
      const entry = (name, kind, onClick, size = null) =>
        h(
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
      clear(
        area,
        h("p", { class: "small muted mono" }, found.folder),
        h(
          "ul",
          { class: "listing" },
          found.parent !== null && entry("one folder up", "folder", () => this.browse(area, control, found.parent)),
          found.entries.map((each) =>
            entry(
              each.name,
              each.kind,
              () => {
                if (each.kind === "folder") this.browse(area, control, each.path);
                else {
                  control.value = each.path;
                  control.focus();
                }
              },
              each.size,
            ),
          ),
          found.entries.length === 0 && h("li", { class: "muted small" }, "No folder and no data file here."),
        ),
      );
      announce(`${count(found.entries.length, "entry", "entries")} in ${found.folder}`);
    } catch (error) {
      clear(area, notice(errorText(error), "bad"));
    }
  }

  uploads() {
    const files = this.workspace.uploads;
    if (files.length === 0) return null;
    return panel(
      { title: "Uploaded before" },
      h(
        "ul",
        { class: "listing" },
        files.map((file) =>
          h(
            "li",
            {},
            h(
              "button",
              {
                type: "button",
                class: "entry",
                on: { click: () => this.open(file.path).catch((error) => this.failed(error)) },
              },
              icon("file"),
              h("span", { class: "grow" }, file.name),
              h("span", { class: "muted small number" }, bytes(file.size)),
            ),
          ),
        ),
      ),
    );
  }

  byAddress() {
    return h(
      "details",
      { class: "card" },
      h("summary", {}, "A database's address"),
      h(
        "p",
        { class: "small" },
        "By a form: files that the embedded engine reads (CSV, TSV, Parquet, JSON lines, gzip of these).",
      ),
      this.answer.unsupported.map((words) => h("p", { class: "small muted" }, words)),
    );
  }

  sample() {
    return panel(
      { title: "Nothing at hand?" },
      h("p", {}, "Try everything with a census of 30,000 invented people: ages, places, occupations and a diagnosis."),
      h(
        "div",
        { class: "row" },
        button("Open the sample", {
          onClick: () => this.run(post("/api/load/sample"), "Making the sample", "columns"),
        }),
      ),
    );
  }

  async take(files) {
    if (files.length === 0) return;
    if (files.length > 1) {
      toast("One file at a time: the first one is taken.");
    }
    const [file] = files;
    const { signal } = this.context;
    const control = new AbortController();
    signal.addEventListener("abort", () => control.abort());
    const bar = progress(`Uploading ${file.name}`, { onCancel: () => control.abort() });
    clear(this.work, panel({ label: "Upload" }, bar.element));
    try {
      const stored = await this.send(file, bar, control.signal);
      if (stored !== null) await this.open(stored.path);
      else clear(this.work);
    } catch (error) {
      this.failed(error);
    }
  }

  async send(file, bar, signal) {
    const tell = (sent, total) => bar.set(sent, total, `${bytes(sent)} of ${bytes(total)}`);
    try {
      return await upload(file, tell, { signal });
    } catch (error) {
      if (error.kind !== "conflict") throw error;
      const { confirmDialog } = await import("../components/dialog.js");
      const agreed = await confirmDialog({
        title: `Replace ${file.name}?`,
        text: "A file of that name was uploaded before. Releases that were made from it stay as they are.",
        action: "Replace it",
      });
      return agreed ? upload(file, tell, { signal, replace: true }) : null;
    }
  }

  async open(path) {
    if (path.toLowerCase().endsWith(".toml")) {
      await post("/api/load/spec", { path });
      await this.run(post("/api/load/study"), "Profiling the columns", null);
      return;
    }
    await this.run(post("/api/load/open", { path }), "Profiling the columns", null);
  }

  /** Wait for a job with its progress on screen; then show what came of it. */
  async run(started, label, next) {
    const { signal, state, go } = this.context;
    const { job } = await started.catch((error) => {
      clear(this.work);
      throw error;
    });
    const bar = progress(label, { onCancel: () => cancel(job) });
    clear(this.work, panel({ label }, bar.element));
    this.work.scrollIntoView({ block: "center" });
    try {
      await follow(job, (found) => bar.set(found.done, found.total, found.stage), { signal });
    } catch (error) {
      this.failed(error);
      return;
    }
    clear(this.work);
    await state.refresh();
    announce("The table is open.");
    if (next === null) await this.draw();
    else go(next);
  }

  failed(error) {
    if (error.name === "AbortError") {
      clear(this.work);
      announce("Cancelled.");
    } else {
      clear(this.work, notice(errorText(error), "bad"));
    }
  }

  // --- the table that is open ---

  preview(view) {
    const heads = view.columns.map((column) =>
      h(
        "th",
        { scope: "col" },
        column.name,
        column.type !== "VARCHAR" && h("span", { class: "muted small block" }, column.type.toLowerCase()),
      ),
    );
    const rows = view.preview.map((row) =>
      h(
        "tr",
        {},
        row.map((cell) =>
          h(
            "td",
            {},
            cell === null
              ? badge("NULL")
              : cell === ""
                ? badge("empty text", "warning")
                : h("div", { class: "cell", title: cell.length > 60 ? cell : null }, cell),
          ),
        ),
      ),
    );
    const summary = this.context.state.summary;
    return panel(
      {
        title: this.answer.place ? "Columns of the table" : "First rows",
        flush: true,
        note: `${count(view.columns.length, "column")}${summary?.rows ? `, ${count(summary.rows, "row")}` : ""}`,
      },
      h(
        "div",
        { class: "scroll-x preview", tabindex: "0", role: "region", aria: { label: "The first rows" } },
        h(
          "table",
          { class: "table dense" },
          h("caption", { class: "visually-hidden" }, "The first rows, cells as they are read"),
          h("thead", {}, h("tr", {}, heads)),
          h("tbody", {}, rows),
        ),
      ),
    );
  }

  whereItIs(place) {
    return panel(
      { title: "Where the rows are" },
      h(
        "dl",
        { class: "place-facts stack" },
        [
          ["Table", place.table],
          ["Database", place.database],
        ].map(([label, value]) =>
          h("div", {}, h("dt", { class: "muted small" }, label), h("dd", { class: "mono break" }, value)),
        ),
      ),
      h(
        "p",
        { class: "small muted" },
        "They are counted there. No row is shown or copied to this machine before it is published as a file. To " +
          "work on another table, name it in the spec and start the server again.",
      ),
    );
  }

  another() {
    return h(
      "details",
      { class: "another" },
      h("summary", {}, "Load another table, or open a spec"),
      h(
        "div",
        { class: "stack" },
        notice(
          "Another table begins a new spec. The one you have now is kept in the workspace's folder specs.",
          "plain",
        ),
        this.dropZone(),
        this.otherWays(),
      ),
    );
  }

  reading(source, view) {
    const form = view?.form ?? null;
    const inferred = form?.reasons ?? {};
    const kind = form?.format ?? source.format;
    const named = { "\t": "tab", ",": "comma", ";": "semicolon", "|": "bar" };
    const change = (changes) => this.save(changes, area);
    const format = select(FORMATS, {
      value: source.format ?? "",
      on: { change: () => change({ format: format.value || null }) },
    });
    const encoding = input({
      value: source.encoding,
      list: "encodings",
      on: { change: () => change({ encoding: encoding.value.trim() || null }) },
    });
    const delimiter = select(DELIMITERS, {
      value: source.delimiter ?? "",
      on: { change: () => change({ delimiter: delimiter.value || null }) },
    });
    const quote = select(
      [
        ['"', 'double  "'],
        ["'", "single  '"],
        ["", "none"],
      ],
      { value: source.quote, on: { change: () => change({ quote: quote.value }) } },
    );
    const isText = kind === "csv" || kind === "tsv";
    const area = h(
      "div",
      { class: "form" },
      field({
        label: "Format",
        control: format,
        name: "format",
        hint: form ? `Read as ${kind}: ${inferred.format}.` : null,
      }),
      kind !== "parquet" &&
        field({
          label: "Encoding",
          control: encoding,
          name: "encoding",
          hint: inferred.encoding ? `Seems ${form.encoding}: ${inferred.encoding}.` : null,
        }),
      isText &&
        field({
          label: "Delimiter",
          control: delimiter,
          name: "delimiter",
          hint: form?.delimiter ? `Found ${named[form.delimiter] ?? form.delimiter}.` : null,
        }),
      isText && field({ label: "Quote", control: quote, name: "quote" }),
      h(
        "datalist",
        { id: "encodings" },
        ENCODINGS.map((each) => h("option", { value: each })),
      ),
      h("p", { class: "form-error", role: "alert" }),
    );
    return panel({ title: "How the file is read", note: "Inferred; correct what is wrong" }, area);
  }

  nullPolicy(source) {
    const area = h(
      "div",
      { class: "form" },
      chips({
        label: "Cells read as NULL",
        values: source.null_values,
        suggestions: this.answer.null_texts,
        placeholder: "type a text, then Enter",
        hint: this.answer.place ? null : "An empty unquoted cell is NULL in any case.",
        onChange: (values) => this.save({ null_values: values }, area),
      }),
      segmented({
        label: "NULL is",
        value: source.nulls,
        options: [
          ["value", "a value of its own"],
          ["drop", "a reason to drop the row"],
        ],
        onChange: (nulls) => this.save({ nulls }, area),
      }),
      h("p", { class: "form-error", role: "alert" }),
    );
    return panel({ title: "NULL policy" }, area);
  }

  people(source, view) {
    const names = view?.columns.map((column) => column.name) ?? [];
    const subject = select([["", "none: one row per person"], ...names.map((name) => [name, name])], {
      value: source.subject ?? "",
      on: { change: () => this.save({ subject: subject.value || null }, area) },
    });
    const unlisted = checkbox("Publish columns that the spec does not list, as they are", {
      checked: source.unlisted === "insensitive",
      on: { change: (event) => this.save({ unlisted: event.target.checked ? "insensitive" : "drop" }, area) },
    });
    const area = h(
      "div",
      { class: "form" },
      field({
        label: "Subject",
        control: subject,
        name: "subject",
        hint: "Where a person has several rows: the column that names the person. Then k counts people, not rows.",
      }),
      unlisted,
      source.unlisted === "insensitive" &&
        notice("Unlisted columns will be published unchanged. Make sure that none of them tells who it is.", "warning"),
      h("p", { class: "form-error", role: "alert" }),
    );
    return panel({ title: "People and columns" }, area);
  }

  /** Save changes of the reading, one after the other: each is made to what the one before left. */
  save(changes, area) {
    this.saving = this.saving.then(() => this.saveNow(changes, area));
    return this.saving;
  }

  async saveNow(changes, area) {
    clearErrors(area);
    try {
      this.answer = await put("/api/load/source", { ...this.answer.source, ...changes });
      await this.context.state.refresh();
      if ("format" in changes || "unlisted" in changes) this.redraw();
      else this.drawRows();
      announce("Saved.");
    } catch (error) {
      if (error.name !== "AbortError") showError(area, error);
    }
  }

  /** Draw the forms anew where another format or policy shows other fields; the focus stays where it was. */
  redraw() {
    const focused = document.activeElement?.closest("[data-field]")?.dataset.field;
    this.drawTable();
    if (focused) this.root.querySelector(`[data-field="${CSS.escape(focused)}"]`)?.control?.focus();
  }

  drawRows() {
    const { view, error } = this.answer;
    clear(this.rows, error && notice(errorText(error), "bad"), view && this.preview(view));
  }
}
