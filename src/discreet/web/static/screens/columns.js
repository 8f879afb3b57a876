// Screen 2, Columns: a role for each column, with the program's proposal and its reason; uniqueness, live.

import { put } from "../api.js";
import { roleLegend } from "../columns/roles.js";
import { RolesTable } from "../columns/roles-table.js";
import { uniquenessPanel, worstSetsPanel } from "../columns/uniqueness.js";
import { input } from "../components/field.js";
import { button, empty, linkButton, notice, panel, screenHead } from "../components/parts.js";
import { announce, toastError } from "../components/status.js";
import { clear, h } from "../dom.js";
import { count } from "../format.js";
import { afterProfile } from "../profile.js";
import { adviceNotices } from "../load/advice.js";

const MOST_NAMES = 10;

export async function show(root, context) {
  if (context.state.summary?.source === null) root.append(screenHead({ title: "Columns" }), noTable());
  else await new ColumnsScreen(root, context).start();
}

function noTable() {
  return panel(
    { label: "No table yet" },
    empty({
      title: "First a table",
      text:
        "Each column gets a role: identifier, quasi-identifier, sensitive or insensitive. " + "Load a table to begin.",
      actions: [linkButton("Go to Load", "#/load", { tone: "primary" })],
    }),
  );
}

class ColumnsScreen {
  constructor(root, context) {
    Object.assign(this, { root, context, ticked: new Set() });
    this.uniqueness = uniquenessPanel(context);
    this.worst = worstSetsPanel(context);
    this.table = new RolesTable({
      ticked: this.ticked,
      onTick: () => this.measure(),
      onRole: (column, role) => this.changeRole(column, role),
      onWeight: ({ name }, weight) => this.save([{ name, weight }], { words: `Weight of ${name}: ${weight}` }),
    });
  }

  async start() {
    clear(this.root, screenHead({ title: "Columns" }));
    this.answer = await afterProfile("/api/columns", this.root, this.context);
    this.tickQuasiIdentifiers();
    this.draw();
  }

  tickQuasiIdentifiers() {
    this.ticked.clear();
    for (const { name, role } of this.answer.columns) this.table.tick(name, role === "quasi-identifier");
  }

  draw() {
    const { columns, rows, missing, unreadable, warnings } = this.answer;
    clear(
      this.root,
      screenHead({
        title: "Columns",
        lead: "Set the role of each column. In doubt the more protective role is proposed; only you know the data.",
        actions: [linkButton("Next: Hierarchies", "#/hierarchies", { tone: "primary" })],
      }),
      h(
        "div",
        { class: "notices" },
        missing.length > 0 &&
          notice(
            `The table lacks columns of the spec: ${missing.join(", ")}. Choose another table or remove ` + "them.",
            "bad",
          ),
        unreadable.length > 0 &&
          notice(`Columns of nested values or bytes cannot have a role here: ${unreadable.join(", ")}.`, "warning"),
        this.undecided(),
        adviceNotices(warnings, () => this.again()),
      ),
      h(
        "div",
        { class: "split" },
        panel(
          {
            title: "Roles",
            flush: true,
            note: `${count(columns.length, "column")} · ${count(rows, "row")}`,
            actions: this.actions(),
          },
          this.table.element,
        ),
        h("div", { class: "stack sticky" }, this.uniqueness, this.worst, roleLegend()),
      ),
    );
    this.table.show(this.answer);
    this.measure();
  }

  /** The table is read with other options: request everything again. */
  async again() {
    await this.context.state.refresh();
    await this.start();
    announce("Saved.");
  }

  /** Show the number and names of the columns that are left out without a decision of the user. */
  undecided() {
    const { given_up: names, columns } = this.answer;
    if (names.length === 0) return null;
    const shown = names.slice(0, MOST_NAMES).join(", ");
    const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
    const one = names.length === 1;
    return notice(
      [
        h("strong", {}, `${names.length} of ${count(columns.length, "column")} ${one ? "is" : "are"} left out. `),
        "More quasi-identifiers would make the lattice too large: nothing of ",
        `${one ? "it" : "them"} is released until you give ${one ? "it" : "them"} a role: ${shown}${more}. `,
        button("Show them", { small: true, onClick: () => this.table.findThese(names) }),
        " ",
        button("Leave them out permanently", { small: true, onClick: () => this.decide(names) }),
      ],
      "warning",
    );
  }

  decide(names) {
    this.save(
      names.map((name) => ({ name, role: "identifier" })),
      { words: `${count(names.length, "column")} left out`, redraw: true },
    );
  }

  actions() {
    const { columns } = this.answer;
    const differ = columns.filter((column) => column.role !== column.proposed);
    const search = input({
      type: "search",
      placeholder: "Find a column",
      aria: { label: "Find a column" },
      on: { input: () => this.table.find(search.value) },
    });
    return [
      columns.length > 12 && h("div", { class: "find" }, search),
      differ.length > 0 && button("Use all proposals", { small: true, onClick: () => this.takeProposals(differ) }),
    ].filter(Boolean);
  }

  measure() {
    this.uniqueness.measure([...this.ticked]);
    this.worst.find([...this.ticked]);
  }

  changeRole({ name, role: before }, role) {
    const change = (wanted) => (wanted ? { name, role: wanted } : { name, unlist: true });
    if (role === "quasi-identifier" || before === "quasi-identifier")
      this.table.tick(name, role === "quasi-identifier");
    this.save([change(role)], { words: `${name}: ${role || "not listed"}` });
  }

  takeProposals(columns) {
    this.save(
      columns.map(({ name, proposed }) => ({ name, role: proposed })),
      { words: `${count(columns.length, "proposal")} used`, ticksAnew: true },
    );
  }

  /** Save changes, and announce them. */
  async save(changes, { words, ticksAnew = false, redraw = false }) {
    try {
      this.answer = await put("/api/columns", { changes });
      if (ticksAnew) this.tickQuasiIdentifiers();
      this.table.refresh(this.answer);
      announce(words);
      if (redraw) this.draw();
      this.measure();
      await this.context.state.refresh();
    } catch (error) {
      toastError(error);
      if (error.name !== "AbortError") this.table.draw();
    }
  }
}
