// Screen 1, Load: a table dropped, named by its path or taken from a spec; its preview; its reading options.

import { startScreen, errorText, get, post, put, query, runChange } from "../api.js";
import { clearErrors, showError } from "../components/form.js";
import { watchJob } from "../components/job.js";
import { linkButton, notice, screenHead } from "../components/parts.js";
import { announce } from "../components/status.js";
import { clear, h } from "../dom.js";
import { adviceNotices } from "../load/advice.js";
import { chooseSheet } from "../load/sheets.js";
import { nextSteps } from "../load/next-steps.js";
import { preview, whereItIs } from "../load/preview.js";
import { fileForm, nullPolicy, peopleForm } from "../load/reading.js";
import { dropTable, otherWays } from "../load/sources.js";
import { sendFile } from "../load/upload.js";

export async function show(root, context) {
  const screen = new LoadScreen(root, context);
  await screen.draw();
}

const isSheets = (path) => /\.(xlsx|sqlite|sqlite3|db3|db)$/i.test(path);

class LoadScreen {
  constructor(root, context) {
    Object.assign(this, { root, context });
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
        h("div", { class: "stack" }, this.dropTable(), nextSteps()),
        h("div", { class: "stack other-ways" }, this.otherWays()),
      ),
    );
  }

  drawTable() {
    const { source, view, place, warnings, null_texts: texts, sheets } = this.answer;
    const change = (changes, area) => this.save(changes, area);
    const format = {
      save: (column, form, area, missed) => this.saveFormat(column, form, area, missed),
      chosen: this.chosen ?? null,
      sheets,
      openSheet: (table) => this.attempt(() => this.run("Opening the table", "open", { path: source.path, table })),
    };
    this.rows = h("div", { class: "stack" });
    clear(
      this.root,
      screenHead({
        title: place ? place.table : source.path.split("/").at(-1),
        lead: place
          ? "The rows stay in the database: only columns and counts of values are read."
          : "Look at the first rows. If they look wrong, correct how the file is read; everything is saved at once.",
        actions: [linkButton("Next: Columns", "#/columns", { tone: "primary" })],
      }),
      this.work,
      h(
        "div",
        { class: "notices" },
        adviceNotices(warnings, () => this.context.state.refresh().then(() => this.draw())),
      ),
      h(
        "div",
        { class: "split" },
        h(
          "div",
          { class: "stack" },
          this.rows,
          h(
            "div",
            { class: "split even" },
            nullPolicy(source, { texts, inDatabase: Boolean(place) }, change),
            peopleForm(source, view, change),
          ),
          this.anotherTable(),
        ),
        h("div", { class: "stack sticky" }, place ? whereItIs(place) : fileForm(source, view, change, format)),
      ),
    );
    this.drawRows();
  }

  drawRows() {
    const { view, error, place } = this.answer;
    const { rows } = this.context.state.summary ?? {};
    clear(
      this.rows,
      error && notice(errorText(error), "bad"),
      view && preview(view, { rows, inDatabase: Boolean(place) }),
    );
  }

  anotherTable() {
    return h(
      "details",
      { class: "another" },
      h("summary", {}, "Load another table, or open a spec"),
      h(
        "div",
        { class: "stack" },
        notice("Another table begins a new spec. The current one is kept in the workspace's folder specs.", "plain"),
        this.dropTable(),
        this.otherWays(),
      ),
    );
  }

  dropTable() {
    return dropTable(this.workspace, (file) => this.attempt(() => this.take(file)));
  }

  otherWays() {
    return otherWays(this.workspace, {
      onOpen: (path) => this.open(path),
      onReopen: (path) => this.attempt(() => this.open(path)),
      onTable: (database, table) => this.run("Opening the table", "open", { path: "", database, table }),
      onSample: () => this.attempt(() => this.run("Making the sample", "sample", {}, "columns")),
    });
  }

  async take(file) {
    const path = await sendFile(file, this.work, this.context);
    if (path === null) clear(this.work);
    else await this.open(path);
  }

  /** Open a table or a spec; for a workbook with several sheets the selected one. */

  async open(path) {
    const isSpec = path.toLowerCase().endsWith(".toml");
    if (isSpec) await post("/api/load/spec", { path });
    const { sheets } = isSheets(path) ? await query("/api/load/sheets", { path }) : { sheets: [] };
    if (sheets.length > 1) {
      clear(
        this.work,
        chooseSheet(path, sheets, (table) =>
          this.attempt(() => this.run("Opening the table", "open", { path, table })),
        ),
      );
      this.work.querySelector("input").focus();
      return;
    }
    await this.run("Opening the table", isSpec ? "study" : "open", isSpec ? {} : { path });
  }

  /** Start a job and wait for it; then show the table, or go to the screen `next`. Throws the job's error. */
  async run(title, what, body, next = null) {
    const done = await runChange(async () => {
      const isDone = await this.finish(title, what, body);
      await startScreen();
      return isDone;
    });
    if (!done) return;
    const { state, go } = this.context;
    await state.refresh();
    announce("The table is open.");
    if (next === null) await this.draw();
    else go(next);
  }

  /** Run the job; return false if it was cancelled. */
  async finish(title, what, body) {
    const { signal } = this.context;
    // Show the bar before the answer: inferring the format of a wide table takes seconds.
    const started = post(`/api/load/${what}`, body);
    const done = watchJob(this.work, title, () => started, { signal, framed: true });
    done.catch(() => {}); // a refusal is thrown by the line after the next
    this.work.scrollIntoView({ block: "center" });
    await started;
    try {
      await done;
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      announce("Cancelled.");
      return false;
    }
    return true;
  }

  /** Run an action; its error is shown above the table. */
  async attempt(work) {
    try {
      await work();
    } catch (error) {
      const stopped = error.name === "AbortError";
      clear(this.work, !stopped && notice(errorText(error), "bad"));
      if (stopped) announce("Cancelled.");
    }
  }

  /** Save changes of the reading options, based on those saved before. */
  async save(changes, area) {
    clearErrors(area);
    try {
      this.answer = await put("/api/load/source", () => ({ ...this.answer.source, ...changes }));
      await this.context.state.refresh();
      if ("format" in changes || "unlisted_columns" in changes) this.redraw();
      else this.drawRows();
      announce("Saved.");
    } catch (error) {
      if (error.name !== "AbortError") showError(area, error);
    }
  }

  /** Save a column's cell format, and show the table as it is read now. */
  async saveFormat(column, format, area, missed = "refuse") {
    clearErrors(area);
    try {
      this.answer = await put("/api/load/format", { column, format, missed });
      await this.context.state.refresh();
      this.chosen = column;
      this.drawTable();
      announce("Saved.");
    } catch (error) {
      if (error.name !== "AbortError") showError(area, error);
    }
  }

  /** Draw the forms again if another format or policy has other fields; the focus is kept. */
  redraw() {
    const focused = document.activeElement?.closest("[data-field]")?.dataset.field;
    this.drawTable();
    if (focused) this.root.querySelector(`[data-field="${CSS.escape(focused)}"]`)?.control?.focus();
  }
}
