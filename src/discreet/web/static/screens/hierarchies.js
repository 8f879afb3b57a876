// Screen 3, Hierarchies: for each quasi-identifier its tree, builders, levels, and ARX CSV.

import { download, errorText, get, post, put } from "../api.js";
import { field, input, select } from "../components/field.js";
import { openDialog, promptDialog } from "../components/dialog.js";
import { badge, button, empty, linkButton, notice, panel, screenHead } from "../components/parts.js";
import { announce, toast } from "../components/status.js";
import { tabs } from "../components/tabs.js";
import { clear, h } from "../dom.js";
import { count, number } from "../format.js";
import { builder } from "../hierarchy/builder.js";
import { figures, paths, strips } from "../hierarchy/levels.js";
import { textEditor } from "../hierarchy/text.js";
import { commonLevel, shareOf, tree } from "../hierarchy/tree.js";
import { afterJob } from "./columns.js";

export async function show(root, context) {
  const { summary } = context.state;
  if (!summary?.quasi_identifiers?.length) {
    const none = summary?.source === null;
    root.append(
      screenHead({ title: "Hierarchies" }),
      panel(
        { label: "No quasi-identifier yet" },
        empty({
          title: none ? "First a table" : "First a quasi-identifier",
          text:
            "A hierarchy says how the values of a quasi-identifier become coarser: 37 → 35-39 → 30-39 → *. " +
            "Each quasi-identifier has one.",
          actions: [
            linkButton(none ? "Go to Load" : "Go to Columns", none ? "#/load" : "#/columns", { tone: "primary" }),
          ],
        }),
      ),
    );
    return;
  }
  await new HierarchiesScreen(root, context).start();
}

class HierarchiesScreen {
  constructor(root, context) {
    Object.assign(this, { root, context, tab: "tree" });
  }

  async start() {
    const area = h("div", {});
    clear(this.root, screenHead({ title: "Hierarchies" }), area);
    this.all = await afterJob("/api/hierarchies", area, this.context);
    const wanted = this.context.params.get("attribute");
    const names = this.all.hierarchies.map((each) => each.name);
    this.name = names.includes(wanted)
      ? wanted
      : (this.all.hierarchies.find((each) => each.error) ?? this.all.hierarchies[0]).name;
    this.side = h("nav", { class: "attribute-list", aria: { label: "Quasi-identifiers" } });
    this.main = h("div", { class: "stack" });
    clear(
      this.root,
      screenHead({
        title: "Hierarchies",
        lead:
          "How values become coarser, level by level, up to *. Every change is saved at once; counts are " +
          "for your eyes only and never published.",
        actions: [linkButton("Next: Negotiate", "#/negotiate", { tone: "primary" })],
      }),
      h("div", { class: "split left" }, this.side, this.main),
    );
    await this.open(this.name);
  }

  drawSide() {
    const pick = select(
      this.all.hierarchies.map((each) => [
        each.name,
        `${each.name} (${each.error ? "needs attention" : count(each.height, "level")})`,
      ]),
      { value: this.name, on: { change: () => this.open(pick.value) } },
    );
    const items = this.all.hierarchies.map((each) =>
      h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: "attribute",
            aria: { current: each.name === this.name ? "true" : null },
            on: { click: () => this.open(each.name, true) },
          },
          h(
            "span",
            { class: "grow" },
            h("span", { class: "name" }, each.name),
            h("span", { class: "small muted block" }, `${count(each.values, "value")} · ${each.origin}`),
          ),
          each.error
            ? badge("fault", "bad")
            : each.height === 1
              ? badge("1 level", each.values > 8 ? "warning" : "plain")
              : badge(count(each.height, "level")),
        ),
      ),
    );
    clear(
      this.side,
      h("div", { class: "narrow" }, field({ label: "Quasi-identifier", control: pick })),
      h("ul", { class: "panel wide" }, items),
    );
  }

  async open(name, focus = false) {
    this.name = name;
    this.drawSide();
    if (focus) this.side.querySelector("[aria-current]")?.focus();
    try {
      const answer = await get(`/api/hierarchies/one?attribute=${encodeURIComponent(name)}`, this.context);
      if (this.name === name) this.draw(answer);
    } catch (error) {
      if (error.name !== "AbortError") clear(this.main, notice(errorText(error), "bad"));
    }
  }

  draw(answer) {
    const known = this.tree !== undefined && this.treeOf === answer.attribute;
    this.answer = answer;
    const facts = this.all.hierarchies.find((each) => each.name === this.name);
    this.bar = h("div", { class: "row tools" });
    if (!known) {
      this.tree = tree({
        label: `Hierarchy of ${this.name}`,
        onSelection: (rows) => this.drawTools(rows),
        onRename: (row) => this.rename(row),
        onDrop: (rows, target) => this.drop(rows, target),
        onGroup: () => this.group(this.chosen),
      });
      this.treeOf = answer.attribute;
    }
    const search = input({
      type: "search",
      placeholder: "Find a value",
      aria: { label: "Find a value" },
      on: { input: () => this.tree.find(search.value) },
    });
    const treePanel = h(
      "div",
      { class: "stack tight" },
      answer.levels.length > 0
        ? [
            h(
              "div",
              { class: "row between" },
              h("div", { class: "find" }, search),
              h(
                "div",
                { class: "row" },
                button("Open all", { small: true, tone: "quiet", onClick: () => this.tree.expandAll(true) }),
                button("Close all", { small: true, tone: "quiet", onClick: () => this.tree.expandAll(false) }),
              ),
            ),
            this.bar,
            this.tree,
            h(
              "p",
              { class: "small muted" },
              "Click values to choose them and drag them onto a group, or onto each other. By keys: arrows, " +
                "Space chooses, Enter groups, F2 renames.",
            ),
          ]
        : h(
            "p",
            { class: "muted" },
            answer.height === null
              ? "There is no tree until the hierarchy can be built: see Builder or ARX CSV."
              : `${number(answer.values)} values are too many for a tree. Use a builder, or edit the file and ` +
                  `import it.`,
          ),
    );
    const levelsPanel = h(
      "div",
      { class: "stack" },
      strips(answer),
      figures(answer),
      paths(answer),
      this.levelTools(answer),
    );
    const saved = (words) => (next) => this.changed(next, words);
    const nulls = answer.null_rows ? `, ${count(answer.null_rows, "row")} NULL` : "";
    clear(
      this.main,
      panel(
        {
          title: this.name,
          note: `${count(answer.values, "value")}${nulls} · ${answer.origin || facts?.origin || ""}`,
          actions: [
            button("Undo", {
              icon: "undo",
              disabled: answer.can_undo === null,
              title: answer.can_undo ? `Take back: ${answer.can_undo}` : null,
              onClick: () => this.step("undo"),
            }),
            button("Redo", {
              icon: "redo",
              disabled: answer.can_redo === null,
              title: answer.can_redo ? `Again: ${answer.can_redo}` : null,
              onClick: () => this.step("redo"),
            }),
            button("Export", { icon: "download", disabled: answer.height === null, onClick: () => this.export() }),
          ],
        },
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
            "This hierarchy was made from the data: a release with it tells a little of the data. Edit or " +
              "export it once and it is given.",
            "warning",
          ),
        answer.notes.map((words) => notice(words, "plain")),
        answer.kind === "flat" &&
          answer.values > 8 &&
          notice(
            h(
              "span",
              {},
              `From ${number(answer.values)} values to * in one step: a release can only keep this column or ` +
                `lose it. Group values below, or `,
              h(
                "button",
                {
                  class: "as-link",
                  type: "button",
                  on: { click: () => this.main.querySelector(".tabs").select("builder") },
                },
                "build a hierarchy",
              ),
              ".",
            ),
            "warning",
          ),
        tabs(
          [
            { id: "tree", label: "Tree", panel: treePanel },
            {
              id: "builder",
              label: "Builder",
              panel: builder({
                attribute: this.name,
                answer,
                builders: this.all.builders,
                signal: this.context.signal,
                onSave: (body) => this.attempt(put("/api/hierarchies", body), saved("The hierarchy is saved")),
              }),
            },
            { id: "levels", label: "Levels", panel: levelsPanel },
            {
              id: "text",
              label: "ARX CSV",
              panel: textEditor({
                attribute: this.name,
                answer,
                signal: this.context.signal,
                onExport: () => this.export(),
                onSave: (text) =>
                  this.attempt(
                    put("/api/hierarchies/file", { attribute: this.name, text }),
                    saved("The hierarchy is saved"),
                  ),
              }),
            },
          ],
          {
            label: "Ways to look at the hierarchy",
            selected: this.tab,
            onSelect: (tab) => {
              this.tab = tab;
            },
          },
        ),
      ),
    );
    if (answer.levels.length > 0) this.tree.show(answer.levels, answer.rows);
  }

  drawTools(rows) {
    this.chosen = rows;
    const level = rows.length > 0 ? commonLevel(rows) : null;
    const groups = rows.length === 1 && rows[0].low > 0;
    const movable = rows.length > 0 && this.targets(rows).length > 0;
    clear(
      this.bar,
      h(
        "span",
        { class: "small muted grow", role: "status" },
        rows.length === 0
          ? "Nothing chosen"
          : `${count(rows.length, "value")} of level ${level} chosen, ${shareOf(rows, this.answer.rows)} of the rows`,
      ),
      button("Group…", { small: true, icon: "group", disabled: rows.length === 0, onClick: () => this.group(rows) }),
      button("Move to…", { small: true, disabled: !movable, onClick: () => this.move(rows) }),
      button("Rename…", { small: true, icon: "pen", disabled: !groups, onClick: () => this.rename(rows[0]) }),
      button("Ungroup", {
        small: true,
        disabled: !groups,
        onClick: () =>
          this.edit({ change: "ungroup", level: rows[0].low, labels: [rows[0].label] }, `${rows[0].label} ungrouped`),
      }),
    );
  }

  levelTools(answer) {
    if (answer.height === null || answer.levels.length === 0) return null;
    const between = Array.from({ length: Math.max(0, answer.height - 1) }, (_, i) => i + 1);
    return h(
      "div",
      { class: "row" },
      button("Add a level above the values", {
        onClick: () => this.edit({ change: "add_level", level: 0 }, "A level was added"),
      }),
      between.map((level) =>
        button(`Remove level ${level}`, {
          tone: "danger",
          onClick: () => this.edit({ change: "remove_level", level }, `Level ${level} was removed`),
        }),
      ),
    );
  }

  /** Groups that rows may be moved into: values of the level above theirs that hold more than themselves. */
  targets(rows) {
    const level = commonLevel(rows);
    const above = this.answer.levels[level + 1];
    if (level === null || !above || level + 1 >= this.answer.levels.length - 1) return [];
    const own = new Set(rows.map((row) => row.label));
    return above.labels.filter((label) => !own.has(label));
  }

  async group(rows) {
    if (!rows?.length) return;
    const level = commonLevel(rows);
    const labels = rows.map((row) => row.label);
    const taken = new Set(this.answer.levels[level + 1]?.labels ?? []);
    const name = await promptDialog({
      title: `Group ${count(labels.length, "value")}`,
      label: "Name of the group",
      action: "Group",
      value: labels.length <= 3 ? `{${labels.join(", ")}}` : "",
      hint: labels.slice(0, 8).join(", ") + (labels.length > 8 ? ` and ${labels.length - 8} more` : ""),
      check: (value) =>
        value.trim() !== value
          ? "No blanks at its ends."
          : value === "*"
            ? "* is the top."
            : taken.has(value) && this.answer.height > level + 1 && !labels.includes(value)
              ? `Level ${level + 1} has a value of that name already.`
              : null,
    });
    if (name !== null)
      await this.edit({ change: "group", level, labels, name }, `${count(labels.length, "value")} grouped as ${name}`, [
        level + 1,
        name,
      ]);
  }

  async move(rows) {
    const level = commonLevel(rows);
    const control = select(this.targets(rows));
    const answer = await openDialog({
      title: `Move ${count(rows.length, "value")}`,
      body: field({ label: "Into the group", control }),
      actions: [
        { label: "Cancel", value: null },
        { label: "Move", value: true, tone: "primary", submits: true },
      ],
    });
    if (answer)
      await this.edit(
        { change: "move", level, labels: rows.map((row) => row.label), target: control.value },
        `Moved into ${control.value}`,
        [level + 1, control.value],
      );
  }

  async rename(row) {
    const name = await promptDialog({ title: "Rename the group", label: "Name", value: row.label, action: "Rename" });
    if (name !== null && name !== row.label)
      await this.edit({ change: "rename", level: row.low, labels: [row.label], name }, `Renamed to ${name}`);
  }

  async drop(rows, target) {
    const level = commonLevel(rows);
    const above = this.answer.levels[level + 1]?.labels ?? [];
    if (
      target.low > 0 &&
      !target.isTop &&
      target.low <= level + 1 &&
      target.high >= level + 1 &&
      above.includes(target.label)
    ) {
      await this.edit(
        { change: "move", level, labels: rows.map((row) => row.label), target: target.label },
        `Moved into ${target.label}`,
        [level + 1, target.label],
      );
    } else if (target.isTop) {
      toast("The top holds everything already. Drop onto a group or a value.");
    } else if (commonLevel([...rows, target]) !== null) {
      this.tree.choose([...rows, target]);
      await this.group([...rows, target]);
    } else {
      toast(`Drop values of level ${level} onto a group of level ${level + 1}, or onto each other.`);
    }
  }

  edit(change, words, reveal = null) {
    return this.attempt(post("/api/hierarchies/edit", { attribute: this.name, ...change }), async (answer) => {
      await this.changed(answer, words);
      if (reveal && this.tab === "tree") this.tree.reveal(...reveal);
    });
  }

  step(which) {
    const words = which === "undo" ? `Taken back: ${this.answer.can_undo}` : `Again: ${this.answer.can_redo}`;
    return this.attempt(post(`/api/hierarchies/${which}`, { attribute: this.name }), async (answer) => {
      await this.changed(answer, words);
      const [undo, redo] = this.main.querySelectorAll(".panel-head .button");
      (which === "undo" ? [undo, redo] : [redo, undo]).find((each) => !each.disabled)?.focus();
    });
  }

  async attempt(promise, then) {
    try {
      await then(await promise);
    } catch (error) {
      if (error.name !== "AbortError") toast(errorText(error), { tone: "bad" });
    }
  }

  async changed(answer, words) {
    announce(words);
    this.draw(answer);
    const { signal, state } = this.context;
    this.all = await get("/api/hierarchies", { signal });
    this.drawSide();
    await state.refresh();
  }

  export() {
    download(`/api/hierarchies/file?attribute=${encodeURIComponent(this.name)}`, `${this.name}.csv`);
  }
}
