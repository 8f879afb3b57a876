// Manual edits of a hierarchy: values are selected in its tree, grouped, moved, renamed and ungrouped.

import { openDialog, promptDialog } from "../components/dialog.js";
import { field, input, select } from "../components/field.js";
import { button } from "../components/parts.js";
import { toast } from "../components/status.js";
import { clear, h } from "../dom.js";
import { count } from "../format.js";
import { commonLevel, shareOf, tree } from "./tree.js";

/** The tree of one attribute; `onEdit(change, words, reveal)`, where `reveal` is the level and label to show next. */
export class TreeEditor {
  constructor(attribute, { onEdit }) {
    Object.assign(this, { attribute, onEdit });
    this.tools = h("div", { class: "row tools" });
    this.tree = tree({
      label: `Hierarchy of ${attribute}`,
      onSelection: (rows) => this.drawTools(rows),
      onRename: (row) => this.rename(row),
      onDrop: (rows, target) => this.drop(rows, target),
      onGroup: () => this.group(this.chosen),
    });
    const search = input({
      type: "search",
      placeholder: "Find a value",
      aria: { label: "Find a value" },
      on: { input: () => this.tree.find(search.value) },
    });
    const openAll = (label, on) =>
      button(label, { small: true, tone: "quiet", onClick: () => this.tree.expandAll(on) });
    this.element = h(
      "div",
      { class: "stack tight" },
      h(
        "div",
        { class: "row between" },
        h("div", { class: "find" }, search),
        h("div", { class: "row" }, openAll("Open all", true), openAll("Close all", false)),
      ),
      this.tools,
      this.tree,
      h(
        "p",
        { class: "small muted" },
        "Click values to select them and drag them onto a group, or onto each other. Keys: arrows move, " +
          "Space selects, Enter groups, F2 renames.",
      ),
    );
  }

  show({ levels, height, rows }) {
    Object.assign(this, { levels, height, rows });
    this.tree.show(levels, rows);
  }

  drawTools(rows) {
    this.chosen = rows;
    const level = rows.length > 0 ? commonLevel(rows) : null;
    const isGroup = rows.length === 1 && rows[0].low > 0;
    const canMove = rows.length > 0 && this.targets(rows).length > 0;
    const tool = (label, isOff, run, icon = null) =>
      button(label, { small: true, icon, disabled: isOff, onClick: () => run.call(this, rows) });
    clear(
      this.tools,
      h(
        "span",
        { class: "small muted grow", role: "status" },
        rows.length === 0
          ? "Nothing selected"
          : `${count(rows.length, "value")} of level ${level} selected, ${shareOf(rows, this.rows)} of the rows`,
      ),
      tool("Group…", rows.length === 0, this.group, "group"),
      tool("Move to…", !canMove, this.move),
      tool("Rename…", !isGroup, ([row]) => this.rename(row), "pen"),
      tool("Ungroup", !isGroup, ([row]) => this.ungroup(row)),
    );
  }

  /** Return the groups into which rows can be moved: values of the next level that contain other values. */
  targets(rows) {
    const level = commonLevel(rows);
    const above = this.levels[level + 1];
    if (level === null || !above || level + 1 >= this.levels.length - 1) return [];
    const own = new Set(rows.map((row) => row.label));
    return above.labels.filter((label) => !own.has(label));
  }

  async group(rows) {
    if (!rows?.length) return;
    const level = commonLevel(rows);
    const labels = rows.map((row) => row.label);
    const taken = new Set(this.levels[level + 1]?.labels ?? []);
    const isTaken = (value) => taken.has(value) && this.height > level + 1 && !labels.includes(value);
    const name = await promptDialog({
      title: `Group ${count(labels.length, "value")}`,
      label: "Name of the group",
      action: "Group",
      value: labels.length <= 3 ? `{${labels.join(", ")}}` : "",
      hint: labels.slice(0, 8).join(", ") + (labels.length > 8 ? ` and ${labels.length - 8} more` : ""),
      check: (value) => {
        if (value.trim() !== value) return "No blanks at the start or end.";
        if (value === "*") return "* is the top.";
        return isTaken(value) ? `Level ${level + 1} has a value of that name already.` : null;
      },
    });
    if (name === null) return;
    const words = `${count(labels.length, "value")} grouped as ${name}`;
    await this.onEdit({ change: "group", level, labels, name }, words, [level + 1, name]);
  }

  async move(rows) {
    const control = select(this.targets(rows));
    const agreed = await openDialog({
      title: `Move ${count(rows.length, "value")}`,
      body: field({ label: "Into the group", control }),
      actions: [
        { label: "Cancel", value: null },
        { label: "Move", value: true, tone: "primary", submits: true },
      ],
    });
    if (agreed) await this.moveInto(rows, control.value);
  }

  moveInto(rows, target) {
    const level = commonLevel(rows);
    const labels = rows.map((row) => row.label);
    return this.onEdit({ change: "move", level, labels, target }, `Moved into ${target}`, [level + 1, target]);
  }

  async rename(row) {
    const name = await promptDialog({ title: "Rename the group", label: "Name", value: row.label, action: "Rename" });
    if (name !== null && name !== row.label)
      await this.onEdit({ change: "rename", level: row.low, labels: [row.label], name }, `Renamed to ${name}`);
  }

  ungroup(row) {
    return this.onEdit({ change: "ungroup", level: row.low, labels: [row.label] }, `${row.label} ungrouped`);
  }

  /** Move rows that are dropped onto a group of the next level into it; group them with a value of their own level. */
  async drop(rows, target) {
    const level = commonLevel(rows);
    const above = this.levels[level + 1]?.labels ?? [];
    const isAbove = target.low <= level + 1 && target.high >= level + 1 && above.includes(target.label);
    if (target.low > 0 && !target.isTop && isAbove) {
      await this.moveInto(rows, target.label);
    } else if (target.isTop) {
      toast("The top already contains all values. Drop onto a group or a value.");
    } else if (commonLevel([...rows, target]) !== null) {
      this.tree.choose([...rows, target]);
      await this.group([...rows, target]);
    } else {
      toast(`Drop values of level ${level} onto a group of level ${level + 1}, or onto each other.`);
    }
  }
}
