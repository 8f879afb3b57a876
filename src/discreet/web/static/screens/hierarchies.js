// Screen 3, Hierarchies: for each quasi-identifier its tree, builders, levels, and ARX CSV.

import { download, errorText, get, post, put } from "../api.js";
import { button, empty, linkButton, notice, panel, screenHead } from "../components/parts.js";
import { announce, toastError } from "../components/status.js";
import { tabs } from "../components/tabs.js";
import { clear, h } from "../dom.js";
import { count, number } from "../format.js";
import { attributeList } from "../hierarchy/attribute-list.js";
import { builder } from "../hierarchy/builder.js";
import { figures, levelsPanel } from "../hierarchy/levels.js";
import { hierarchyFolder } from "../hierarchy/folder.js";
import { offers } from "../hierarchy/offers.js";
import { textEditor } from "../hierarchy/text.js";
import { TreeEditor } from "../hierarchy/tree-editor.js";
import { afterProfile } from "../profile.js";

const MANY = 8; // the maximum of values that a release keeps or loses well in one step

export async function show(root, context) {
  const { summary } = context.state;
  if (summary?.quasi_identifiers?.length) await new HierarchiesScreen(root, context).start();
  else root.append(screenHead({ title: "Hierarchies" }), noQuasiIdentifier(summary?.source === null));
}

function noQuasiIdentifier(hasNoTable) {
  return panel(
    { label: "No quasi-identifier yet" },
    empty({
      title: hasNoTable ? "First a table" : "First a quasi-identifier",
      text:
        "A hierarchy defines how the values of a quasi-identifier become coarser: 37 → 35-39 → 30-39 → *. " +
        "Each quasi-identifier has one.",
      actions: [
        hasNoTable
          ? linkButton("Go to Load", "#/load", { tone: "primary" })
          : linkButton("Go to Columns", "#/columns", { tone: "primary" }),
      ],
    }),
  );
}

class HierarchiesScreen {
  constructor(root, context) {
    Object.assign(this, { root, context, tab: context.params.get("tab") ?? "tree", editor: null });
    this.list = attributeList((name, fromList) => this.open(name, fromList));
    this.main = h("div", { class: "stack" });
  }

  async start() {
    clear(this.root, screenHead({ title: "Hierarchies" }));
    this.all = await afterProfile("/api/hierarchies", this.root, this.context);
    const { hierarchies } = this.all;
    const wanted = this.context.params.get("attribute");
    const first =
      hierarchies.find((each) => each.name === wanted) ?? hierarchies.find((each) => each.error) ?? hierarchies[0];
    clear(
      this.root,
      screenHead({
        title: "Hierarchies",
        lead:
          "How values become coarser, level by level, up to *. Every change is saved at once; only you " +
          "see the counts; they are never published.",
        actions: [linkButton("Next: Negotiate", "#/negotiate", { tone: "primary" })],
      }),
      this.folder(),
      h("div", { class: "split left" }, this.list, this.main),
    );
    await this.open(first.name);
  }

  folder() {
    const { signal, state } = this.context;
    const onUsed = async (words) => {
      this.all = await get("/api/hierarchies", { signal });
      await state.refresh();
      announce(words);
      await this.open(this.name);
    };
    return hierarchyFolder({ signal, onUsed });
  }

  async open(name, focus = false) {
    this.name = name;
    this.context.updateLocation({ attribute: name });
    this.list.show(this.all.hierarchies, name);
    if (focus) this.list.querySelector("[aria-current]")?.focus();
    try {
      const answer = await get(`/api/hierarchies/one?attribute=${encodeURIComponent(name)}`, this.context);
      if (this.name === name) this.draw(answer);
    } catch (error) {
      if (error.name !== "AbortError") clear(this.main, notice(errorText(error), "bad"));
    }
  }

  /** Draw an answer; until the next one, all views and actions refer to this one's attribute. */
  draw(answer) {
    this.answer = answer;
    if (this.editor?.attribute !== answer.attribute)
      this.editor = new TreeEditor(answer.attribute, { onEdit: (...given) => this.edit(...given) });
    const facts = this.all.hierarchies.find((each) => each.name === answer.attribute);
    const nulls = answer.null_rows ? `, ${count(answer.null_rows, "row")} NULL` : "";
    clear(
      this.main,
      panel(
        {
          title: answer.attribute,
          note: `${count(answer.values, "value")}${nulls} · ${answer.origin || facts?.origin || ""}`,
          actions: this.actions(),
        },
        this.notices(facts),
        this.tabs(),
      ),
    );
    if (answer.levels.length > 0) this.editor.show(answer);
  }

  actions() {
    return [
      button("Export", { icon: "download", disabled: this.answer.height === null, onClick: () => this.export() }),
    ];
  }

  notices(facts) {
    const { answer } = this;
    return [
      answer.problems.map((problem) => notice(`${problem.message}. ${problem.advice}`, "bad")),
      answer.missing.length > 0 &&
        h(
          "div",
          { class: "row" },
          button(`Add ${count(answer.missing.length, "missing value")}`, {
            tone: "primary",
            onClick: () => this.edit({ change: "add_values" }, "Missing values added"),
          }),
        ),
      facts?.from_data &&
        answer.problems.length === 0 &&
        notice(
          "This hierarchy was made from the data: a release with it discloses facts about the data. Edit or " +
            "export it once to treat it as given.",
          "warning",
        ),
      answer.notes.map((words) => notice(words, "plain")),
      answer.kind === "flat" && answer.values > MANY && this.flatNotice(),
    ];
  }

  flatNotice() {
    const build = () => this.main.querySelector(".tabs").select("builder");
    return notice(
      h(
        "span",
        {},
        `From ${number(this.answer.values)} values to * in one step: a release can only keep this column or ` +
          `lose it. Group values below, or `,
        h("button", { class: "as-link", type: "button", on: { click: build } }, "build a hierarchy"),
        ".",
      ),
      "warning",
    );
  }

  tabs() {
    const { answer } = this;
    const { attribute } = answer;
    const about = { attribute, answer, signal: this.context.signal };
    const save = (path, body) => this.attempt(put(path, body), (next) => this.changed(next, "The hierarchy is saved"));
    const build = (body) => save("/api/hierarchies", body);
    return tabs(
      [
        {
          id: "tree",
          label: "Tree",
          panel:
            answer.levels.length > 0
              ? this.editor.element
              : noTree(answer, (tab) => this.main.querySelector(".tabs").select(tab)),
        },
        {
          id: "builder",
          label: "Builder",
          panel: [offers(answer, build), builder({ ...about, builders: this.all.builders, onSave: build })],
        },
        { id: "levels", label: "Levels", panel: levelsPanel(answer, (...given) => this.edit(...given)) },
        {
          id: "text",
          label: "ARX CSV",
          panel: textEditor({
            ...about,
            onExport: () => this.export(),
            onSave: (text) => save("/api/hierarchies/file", { attribute, text }),
          }),
        },
      ],
      {
        label: "Views of the hierarchy",
        selected: this.tab,
        onSelect: (tab) => {
          this.tab = tab;
          this.context.updateLocation({ tab: tab === "tree" ? null : tab });
        },
      },
    );
  }

  edit(change, words, reveal = null) {
    const edited = post("/api/hierarchies/edit", { attribute: this.answer.attribute, ...change });
    return this.attempt(edited, async (answer) => {
      await this.changed(answer, words);
      if (reveal && this.answer === answer && this.tab === "tree") this.editor.tree.reveal(...reveal);
    });
  }

  async attempt(promise, then) {
    try {
      await then(await promise);
    } catch (error) {
      toastError(error);
    }
  }

  async changed(answer, words) {
    announce(words);
    if (answer.attribute === this.name) this.draw(answer); // else another attribute is selected
    const { signal, state } = this.context;
    this.all = await get("/api/hierarchies", { signal });
    this.list.show(this.all.hierarchies, this.name);
    await state.refresh();
  }

  export() {
    const { attribute } = this.answer;
    download(`/api/hierarchies/file?attribute=${encodeURIComponent(attribute)}`, `${attribute}.csv`);
  }
}

/** Show the reason why there is no tree, a link to repair it, and each level in figures. */
function noTree(answer, select) {
  const { height, values } = answer;
  const to = (tab, words) => h("button", { class: "as-link", type: "button", on: { click: () => select(tab) } }, words);
  const words =
    height === null
      ? "There is no tree until the hierarchy can be built: "
      : `${number(values)} values are too many for a tree: `;
  return h(
    "div",
    { class: "stack" },
    h("p", {}, words, to("builder", "change it in the builder"), ", or ", to("text", "as text"), "."),
    height !== null && figures(answer),
  );
}
