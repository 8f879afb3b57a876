// Screen 2, Columns: a role for each column, with the program's proposal and its reason; uniqueness, live.

import { cancel, errorText, follow, get, post, put } from "../api.js";
import { input, segmented } from "../components/field.js";
import {
  badge,
  button,
  empty,
  facts,
  linkButton,
  meter,
  notice,
  panel,
  role,
  screenHead,
} from "../components/parts.js";
import { progress } from "../components/progress.js";
import { announce, toast } from "../components/status.js";
import { clear, h, visuallyHidden } from "../dom.js";
import { count, number, share, significant } from "../format.js";
import { bars } from "../plots/bars.js";

const ROLES = [
  ["identifier", "identifier"],
  ["quasi-identifier", "quasi-identifier"],
  ["sensitive", "sensitive"],
  ["insensitive", "insensitive"],
  ["", "not listed"],
];
const MEANING = {
  identifier: "tells who it is: never published",
  "quasi-identifier": "identifies together with others: generalized",
  sensitive: "what an attacker wants to learn: published, protected by l",
  insensitive: "published as it is",
};

export async function show(root, context) {
  if (context.state.summary?.source === null) {
    root.append(
      screenHead({ title: "Columns" }),
      panel(
        { label: "No table yet" },
        empty({
          title: "First a table",
          text:
            "Here each column gets its role: what tells who it is, what identifies together with others, " +
            "what is to be protected. Load a table to begin.",
          actions: [linkButton("Go to Load", "#/load", { tone: "primary" })],
        }),
      ),
    );
    return;
  }
  await new ColumnsScreen(root, context).start();
}

/** Ask a path until it no longer answers with a job; the progress of the job is shown in `area`. */
export async function afterJob(path, area, { signal, state }) {
  for (;;) {
    const answer = await get(path, { signal });
    if (!answer.job) return answer;
    const bar = progress("Profiling the columns", { onCancel: () => cancel(answer.job) });
    clear(area, panel({ label: "Profiling" }, bar.element));
    await follow(answer.job, (job) => bar.set(job.done, job.total, job.stage), { signal });
    clear(area);
    await state.refresh();
  }
}

class ColumnsScreen {
  constructor(root, context) {
    Object.assign(this, { root, context, filter: "", set: new Set(), asked: 0, size: 2, saving: Promise.resolve() });
  }

  async start() {
    const area = h("div", {});
    clear(this.root, screenHead({ title: "Columns" }), area);
    this.answer = await afterJob("/api/columns", area, this.context);
    this.chooseQuasiIdentifiers();
    this.draw();
  }

  chooseQuasiIdentifiers() {
    this.set = new Set(
      this.answer.columns.filter((column) => column.role === "quasi-identifier").map((column) => column.name),
    );
  }

  draw() {
    const { answer } = this;
    this.tableArea = h("div", { class: "columns-table" });
    this.meterArea = h("div", { class: "stack", aria: { live: "off" } });
    this.worstArea = h("div", { class: "stack tight" });
    const search = input({
      type: "search",
      placeholder: "Find a column",
      aria: { label: "Find a column" },
      on: {
        input: () => {
          this.filter = search.value;
          this.drawTable();
        },
      },
    });
    const differ = answer.columns.filter((column) => column.role !== column.proposed);
    clear(
      this.root,
      screenHead({
        title: "Columns",
        lead: "Say what each column is. In doubt the more protected role is proposed; only you know the data.",
        actions: [linkButton("Next: Hierarchies", "#/hierarchies", { tone: "primary" })],
      }),
      answer.missing.length > 0 &&
        notice(
          `The spec lists columns that the table has not: ${answer.missing.join(", ")}. Choose another table or ` +
            `remove them.`,
          "bad",
        ),
      answer.unreadable.length > 0 &&
        notice(
          `Columns of nested values or bytes cannot have a role here: ${answer.unreadable.join(", ")}.`,
          "warning",
        ),
      answer.warnings.map((words) => notice(words, "warning")),
      h(
        "div",
        { class: "split" },
        panel(
          {
            title: "Roles",
            flush: true,
            note: `${count(answer.columns.length, "column")} · ${count(answer.rows, "row")}`,
            actions: [
              answer.columns.length > 12 && h("div", { class: "find" }, search),
              differ.length > 0 && button("Take all proposals", { small: true, onClick: () => this.takeAll(differ) }),
            ].filter(Boolean),
          },
          this.tableArea,
        ),
        h(
          "div",
          { class: "stack sticky" },
          panel({ title: "Uniqueness of a set", note: "Tick columns in the table" }, this.meterArea),
          panel({ title: "Which sets are worst?" }, this.worstControls(), this.worstArea),
          this.legend(),
        ),
      ),
    );
    this.drawTable();
    this.measure();
    this.findWorst();
  }

  legend() {
    return h(
      "details",
      { class: "card" },
      h("summary", {}, "What the roles mean"),
      h(
        "dl",
        { class: "stack tight" },
        Object.entries(MEANING).map(([name, words]) =>
          h("div", {}, h("dt", {}, role(name)), h("dd", { class: "small" }, words)),
        ),
      ),
    );
  }

  drawTable() {
    const wanted = this.filter.trim().toLowerCase();
    const rows = this.answer.columns.filter((column) => column.name.toLowerCase().includes(wanted));
    const all = h("input", { type: "checkbox", class: "box", aria: { label: "All of these columns in the set" } });
    const sync = () => {
      const ticked = rows.filter((column) => this.set.has(column.name)).length;
      all.checked = ticked === rows.length && ticked > 0;
      all.indeterminate = ticked > 0 && ticked < rows.length;
    };
    all.addEventListener("change", () => {
      for (const column of rows) this.set[all.checked ? "add" : "delete"](column.name);
      this.drawTable();
      this.measure();
      this.findWorst();
    });
    this.sync = sync;
    sync();
    const head = (words, kind = "") => h("th", { scope: "col", class: kind }, words);
    const body = h(
      "tbody",
      { on: { keydown: (event) => this.move(event) } },
      rows.map((column) => this.line(column)),
    );
    clear(
      this.tableArea,
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
            h("th", { scope: "col", class: "tick" }, all),
            head("Column"),
            head("Role"),
            head("Values", "number"),
            head("Unique rows", "number"),
            head("Weight", "number"),
            head("Why"),
          ),
        ),
        body,
      ),
      rows.length === 0 && h("p", { class: "muted pad" }, "No column has that in its name."),
    );
  }

  line(column) {
    const box = h("input", {
      type: "checkbox",
      class: "box",
      checked: this.set.has(column.name),
      aria: { label: `${column.name} in the set` },
      on: {
        change: () => {
          this.set[box.checked ? "add" : "delete"](column.name);
          this.sync();
          this.measure();
          this.findWorst();
        },
      },
    });
    const choice = h(
      "select",
      {
        class: `input role-choice ${column.role ?? "unlisted"}`,
        value: column.role ?? "",
        disabled: column.subject,
        aria: { label: `Role of ${column.name}` },
        on: { change: () => this.change(column, choice.value) },
      },
      ROLES.map(([value, words]) => h("option", { value }, words)),
    );
    const { rows } = this.answer;
    const alone = column.unique_rows / Math.max(1, rows);
    const agrees = column.role === column.proposed;
    return h(
      "tr",
      { dataset: { column: column.name } },
      h("td", { class: "tick" }, box),
      h(
        "th",
        { scope: "row" },
        h("span", { class: "name" }, column.name),
        h("span", { class: "examples" }, column.examples.length > 0 ? column.examples.join(" · ") : "no value"),
      ),
      h("td", {}, choice),
      h(
        "td",
        { class: "number", dataset: { label: "Values" } },
        number(column.values),
        column.null_rows > 0 && h("span", { class: "muted small block" }, `${share(column.null_rows, rows)} NULL`),
      ),
      h(
        "td",
        { class: "number", dataset: { label: "Unique rows" } },
        share(column.unique_rows, rows),
        meter(alone, {
          label: `${share(column.unique_rows, rows)} of the rows are unique by ${column.name}`,
          tone: alone > 0.2 ? "bad" : alone > 0.01 ? "warning" : "",
        }),
      ),
      h(
        "td",
        { class: "number", dataset: { label: "Weight" } },
        column.role === "quasi-identifier" ? this.weight(column) : h("span", { class: "muted" }, "–"),
      ),
      h(
        "td",
        { class: "why" },
        !agrees &&
          h(
            "span",
            { class: "proposal" },
            "Proposed: ",
            role(column.proposed),
            button("Take it", { small: true, tone: "quiet", onClick: () => this.change(column, column.proposed) }),
          ),
        h("span", { class: "small reason" }, sentence(column.reason)),
        column.subject && badge("subject", "accent"),
      ),
    );
  }

  weight(column) {
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
            toast(`The weight of ${column.name}: a number above 0 is needed.`, { tone: "bad" });
            return;
          }
          control.removeAttribute("aria-invalid");
          this.save([{ name: column.name, weight: wanted }], `Weight of ${column.name}: ${wanted}`);
        },
      },
    });
    return control;
  }

  move(event) {
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

  change(column, value) {
    const before = column.role;
    const change = value === "" ? { name: column.name, unlist: true } : { name: column.name, role: value };
    const back = before === null ? { name: column.name, unlist: true } : { name: column.name, role: before };
    const ticked = value === "quasi-identifier";
    if (ticked) this.set.add(column.name);
    else if (before === "quasi-identifier") this.set.delete(column.name);
    this.save([change], `${column.name}: ${value || "not listed"}`, back);
  }

  takeAll(columns) {
    this.save(
      columns.map((column) => ({ name: column.name, role: column.proposed })),
      `${count(columns.length, "proposal")} taken`,
      null,
      true,
    );
  }

  /** Save changes, one after the other. */
  save(...given) {
    this.saving = this.saving.then(() => this.saveNow(...given));
    return this.saving;
  }

  async saveNow(changes, words, back = null, all = false) {
    const focused = document.activeElement;
    const row = focused?.closest("tr[data-column]")?.dataset.column;
    const label = focused?.getAttribute("aria-label");
    try {
      this.answer = await put("/api/columns", { changes });
      if (all) this.chooseQuasiIdentifiers();
      this.drawTable();
      if (row) {
        const line = this.tableArea.querySelector(`tr[data-column="${CSS.escape(row)}"]`);
        (line?.querySelector(`[aria-label="${CSS.escape(label ?? "")}"]`) ?? line?.querySelector("select"))?.focus();
      }
      if (back)
        toast(words, {
          action: {
            label: "Undo",
            run: () => {
              this.set[back.role === "quasi-identifier" ? "add" : "delete"](back.name);
              this.save([back], `${back.name}: ${back.role ?? "not listed"}`);
            },
          },
        });
      else announce(words);
      this.measure();
      this.findWorst();
      await this.context.state.refresh();
    } catch (error) {
      if (error.name === "AbortError") return;
      toast(errorText(error), { tone: "bad" });
      this.drawTable();
    }
  }

  /** Uniqueness of the ticked set; of a burst of ticks only the last answer is shown. */
  async measure() {
    this.asked += 1;
    const mine = this.asked;
    const columns = [...this.set];
    if (columns.length === 0) {
      clear(this.meterArea, h("p", { class: "muted" }, "No column is ticked: all rows look alike."));
      return;
    }
    try {
      const found = await post("/api/columns/uniqueness", { columns }, this.context);
      if (mine !== this.asked) return;
      const part = found.unique_rows / Math.max(1, found.rows);
      clear(
        this.meterArea,
        h("p", { class: "small muted set-names" }, columns.join(", ")),
        facts([
          {
            label: "unique rows",
            value: share(found.unique_rows, found.rows),
            tone: part > 0.2 ? "bad" : part > 0.01 ? "warning" : "",
          },
          { label: "combinations", value: number(found.distinct) },
          { label: "rows a class, mean", value: significant(found.mean, 3) },
        ]),
        bars({
          caption: "Rows in small classes of the ticked set",
          nameTitle: "class size",
          width: 300,
          format: (value) => share(value, found.rows),
          rows: found.below.map((each) => ({
            label: each.size === 2 ? "unique" : `below ${each.size}`,
            value: each.rows,
            tone: each.size === 2 ? "bad" : "",
          })),
        }),
      );
      announce(`${count(columns.length, "column")}: ${share(found.unique_rows, found.rows)} of the rows are unique`);
    } catch (error) {
      if (error.name !== "AbortError" && mine === this.asked) clear(this.meterArea, notice(errorText(error), "bad"));
    }
  }

  worstControls() {
    return segmented({
      label: "Size of the sets",
      hideLabel: true,
      value: String(this.size),
      options: [
        ["1", "alone"],
        ["2", "pairs"],
        ["3", "triples"],
      ],
      onChange: (value) => {
        this.size = Number(value);
        this.findWorst();
      },
    });
  }

  async findWorst() {
    const columns = [...this.set];
    const mine = `${this.size} ${columns.join("\u0000")}`;
    this.worstAsked = mine;
    if (columns.length < this.size) {
      clear(this.worstArea, h("p", { class: "muted" }, `Tick at least ${count(this.size, "column")}.`));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (mine !== this.worstAsked) return;
    try {
      const found = await post("/api/columns/worst", { columns, size: this.size }, this.context);
      if (mine !== this.worstAsked) return;
      clear(
        this.worstArea,
        h(
          "ol",
          { class: "worst" },
          found.best.map((each) =>
            h(
              "li",
              {},
              h("span", { class: "grow" }, each.columns.join(" + ")),
              h("span", { class: "number" }, visuallyHidden("unique rows: "), share(each.unique_rows, each.rows)),
              meter(each.unique_rows / Math.max(1, each.rows), {
                label: `${share(each.unique_rows, each.rows)} unique`,
                tone: each.unique_rows / each.rows > 0.2 ? "bad" : "warning",
              }),
            ),
          ),
        ),
        found.looked_at < found.possible &&
          h(
            "p",
            { class: "small muted" },
            `${number(found.looked_at)} of ${number(found.possible)} sets were counted, those with most values first.`,
          ),
      );
    } catch (error) {
      if (error.name !== "AbortError" && mine === this.worstAsked)
        clear(this.worstArea, notice(errorText(error), "bad"));
    }
  }
}

function sentence(words) {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
