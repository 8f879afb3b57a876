// Two columns together: the share of a value in each group of another column, before and after.

import { openDialog } from "../components/dialog.js";
import { clear, h } from "../dom.js";
import { draftOf, keepDraft } from "../drafts.js";
import { roughShare, share as percent } from "../format.js";
import { rarest, spoken } from "./words.js";

const KEY = "together";

/** `.query()` returns the query, `.show(found)` draws its answer; `onChange()` when the query changes. */
export class TogetherView {
  constructor(facts, { onChange }) {
    this.onChange = onChange;
    this.attributes = facts.attributes.filter(({ drawn }) => drawn.labels && drawn.labels.length > 1);
    this.chosen = this.valid(draftOf(KEY));
    this.words = h("button", { class: "as-words", type: "button", on: { click: () => this.change() } });
    this.list = h("ul", { class: "together-rows" });
    this.verdict = h("p", { class: "small-words" });
    this.element = h(
      "div",
      { class: "together", hidden: this.chosen === null },
      h("h2", {}, "Two columns together"),
      this.words,
      this.list,
      this.verdict,
    );
    this.lines = [];
    this.tell();
  }

  query() {
    return this.chosen;
  }

  valid(draft) {
    const has = (name, value) =>
      this.attributes.some((each) => each.name === name && (value === null || each.drawn.labels.includes(value)));
    return draft && has(draft.name, draft.value) && has(draft.by, null) && draft.name !== draft.by ? draft : null;
  }

  /**
   * Set the query at the first answer: the rarest value of the column with fewest visible values, by a column of few
   * groups.
   */
  begin(levels) {
    if (this.chosen || this.attributes.length < 2) return false;
    const blurred = ({ name, height }) => (levels[name] === 0 ? 0 : levels[name] < height ? 1 : 2);
    const [one, ...others] = [...this.attributes].sort(
      (a, b) => blurred(a) - blurred(b) || a.drawn.labels.length - b.drawn.labels.length,
    );
    const groups = ({ name, levels: of }) => of[levels[name]].values;
    const fit = (each) => (groups(each) > 1 && groups(each) <= 6 ? -groups(each) : 10 + blurred(each));
    const by = others.sort((a, b) => fit(a) - fit(b))[0];
    this.chosen = { name: one.name, value: rarest(one.drawn), by: by.name };
    this.element.hidden = false;
    this.tell();
    return true;
  }

  tell() {
    if (!this.chosen) return;
    const { name, value, by } = this.chosen;
    this.words.textContent = `${spoken(name)} ${value}, by ${spoken(by)}`;
    this.words.setAttribute("aria-label", `Change the two columns: ${this.words.textContent}`);
  }

  show(rows) {
    if (!rows) return;
    while (this.lines.length < rows.length) this.lines.push(line());
    if (this.list.children.length !== rows.length)
      clear(
        this.list,
        this.lines.slice(0, rows.length).map(({ row }) => row),
      );
    const most = Math.max(0.01, ...rows.map(({ truth, share }) => Math.max(truth, share ?? 0)));
    rows.forEach(({ label, truth, share, known }, i) => {
      const { name, bar, tick, figure, row } = this.lines[i];
      name.textContent = label === "*" ? "everybody" : label;
      name.title = label;
      bar.style.width = `${(100 * (share ?? 0)) / most}%`;
      bar.classList.toggle("hidden-one", !known);
      tick.style.insetInlineStart = `${(100 * truth) / most}%`;
      figure.textContent = share === null ? "–" : roughShare(share);
      const published = share === null ? "nothing" : percent(share);
      row.title = `published ${published}, true ${percent(truth)}`;
    });
    this.verdict.textContent = harm(rows, this.chosen);
  }

  async change() {
    const select = (label, names, value) =>
      h(
        "label",
        { class: "field" },
        h("span", { class: "label" }, label),
        h(
          "select",
          { class: "input" },
          names.map((each) => h("option", { value: each, selected: each === value }, each)),
        ),
      );
    const names = this.attributes.map(({ name }) => name);
    const { name, value, by } = this.chosen;
    const one = select("Column", names, name);
    const of = h("div", {});
    const other = select("In the groups of", names, by);
    const pick = (element) => element.querySelector("select").value;
    const values = (wanted) => {
      const { labels } = this.attributes.find((each) => each.name === pick(one)).drawn;
      clear(of, select("Value to count", labels, wanted));
    };
    values(value);
    one.addEventListener("change", () => values(null));
    const done = await openDialog({
      title: "Two columns together",
      body: h("div", { class: "form" }, one, of, other),
      actions: [
        { label: "Cancel", value: null },
        { label: "Show", value: true, tone: "primary", submits: true },
      ],
      onOpen: (dialog) =>
        dialog.addEventListener("close", () => {
          this.next = { name: pick(one), value: pick(of), by: pick(other) };
        }),
    });
    if (!done || this.next.name === this.next.by) return;
    this.chosen = this.next;
    keepDraft(KEY, this.chosen);
    this.tell();
    this.onChange();
  }
}

function line() {
  const made = {
    name: h("span", { class: "name" }),
    bar: h("span", { class: "share-bar" }),
    tick: h("span", { class: "tick" }),
    figure: h("span", { class: "figure" }),
  };
  made.row = h(
    "li",
    {},
    made.name,
    h("span", { class: "area", aria: { hidden: true } }, made.bar, made.tick),
    made.figure,
  );
  return made;
}

/** Describe the harm of the recoding. */
function harm(rows, { name }) {
  if (rows.every(({ known }) => !known)) return `${spoken(name)} is not distinguished`;
  const worst = rows
    .filter(({ share }) => share !== null)
    .map((row) => ({ ...row, off: Math.abs(row.share - row.truth) }))
    .sort((a, b) => b.off - a.off)[0];
  if (!worst || worst.off < 0.005) return "unchanged to half a percent";
  const where = worst.label === "*" ? "overall" : `in ${worst.label}`;
  return `truly ${percent(worst.truth)} ${where}`;
}
