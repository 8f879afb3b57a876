// The node shown in detail: its classes, the frontier, its neighbours.

import { button } from "../components/parts.js";
import { tabs } from "../components/tabs.js";
import { clear, h } from "../dom.js";
import { costText, number, significant } from "../format.js";
import { ClassBars } from "../lattice/classes.js";
import { FrontierPlot } from "../lattice/frontier.js";

/** One part of the panels below the tray. */
export class NodePanel {
  constructor(facts, scale, actions) {
    this.facts = facts;
    this.actions = actions;
    this.title = h("h3", {});
    this.cost = h("p", { class: "muted small" });
    this.choose = button("Choose this node", {
      onClick: () => (this.isChosen ? actions.onUnchoose() : actions.onChoose()),
    });
    this.compare = button("Compare", {
      small: true,
      onClick: () => {
        this.compare.textContent = `Compare (${actions.onCompare()})`;
      },
    });
    this.bars = new ClassBars();
    this.distinct = facts.sensitive.map((sensitive) => ({ name: sensitive.name, bars: new ClassBars() }));
    this.frontier = new FrontierPlot({
      scale,
      announce: actions.announce,
      onHover: actions.onPoint,
      onChoose: actions.onLook,
    });
    this.steps = h("div", { class: "scroll-x" });
    this.tab = "classes";
    this.tabs = tabs(
      [
        {
          id: "classes",
          label: "Classes",
          panel: h(
            "div",
            { class: "stack tight" },
            h(
              "p",
              { class: "legend small" },
              h("span", {}, h("span", { class: "key kept" }), "published"),
              h("span", {}, h("span", { class: "key suppressed" }), "suppressed"),
            ),
            this.bars.element,
            this.distinct.map((each) => each.bars.element),
          ),
        },
        { id: "frontier", label: "Frontier", panel: this.frontier.element },
        { id: "neighbours", label: "Neighbours", panel: this.steps },
      ],
      { label: "Current node", onSelect: (id) => this.select(id) },
    );
    this.element = h(
      "section",
      { class: "node-panel", aria: { label: "Current node" } },
      h("div", { class: "node-head" }, this.title, h("div", { class: "row" }, this.choose, this.compare)),
      this.cost,
      this.tabs,
    );
  }

  close() {
    this.frontier.close();
  }

  select(id) {
    this.tab = id;
    if (this.answer) this.showTab();
    this.actions.onTab();
  }

  /** Show an answer; the tab is drawn only if it is visible. */
  show(answer, nodes, marks, { isChosen, isInSight }) {
    Object.assign(this, { answer, nodes, marks });
    this.showNode(isChosen);
    if (isInSight) this.showTab();
  }

  cardOf(relaxed) {
    return this.answer.cards.find((each) => each.relaxed === relaxed);
  }

  showNode(chosen) {
    const { node, answers } = this.answer;
    const own = answers.find((each) => JSON.stringify(each.levels) === JSON.stringify(node.levels));
    this.title.textContent =
      !node.asked && own
        ? own.relaxed === null
          ? "Node of the exact answer"
          : this.cardOf(own.relaxed).node
        : "Selected node";
    this.cost.textContent = node.cost ? `cost, ${node.cost.name}: ${costText(node.cost.value)}` : "";
    this.canChoose = node.suppressed <= this.answer.limit;
    this.chosen(chosen);
  }

  chosen(is) {
    this.isChosen = is;
    this.choose.textContent = is ? "✓ Chosen for the release" : "Choose this node";
    this.choose.disabled = !is && !this.canChoose;
    this.choose.title = this.choose.disabled ? "It suppresses more rows than the request allows" : "";
  }

  showTab() {
    const { answer, nodes, marks } = this;
    const { node } = answer;
    if (this.tab === "classes") {
      this.bars.show(node.sizes, { caption: `Rows by size of their group; ${answer.requirement}`, unit: "group size" });
      for (const { name, bars } of this.distinct)
        bars.show(node.distinct[name] ?? [], { caption: `Rows by distinct ${name} in their group`, unit: "distinct" });
    } else if (this.tab === "frontier") {
      this.frontier.show(nodes, marks.frontier ?? [], marks.chosen, marks.cost ?? null);
    } else {
      this.showSteps();
    }
  }

  highlight(place) {
    if (this.tab === "frontier" && this.answer) this.frontier.highlight(place);
  }

  /** Show one level less or more of each attribute with its suppression, each a button that moves there. */
  showSteps() {
    const { nodes, marks, facts } = this;
    const from = marks.chosen;
    if (from < 0) {
      clear(this.steps, h("p", { class: "muted" }, "The node is not in the current lattice."));
      return;
    }
    const cell = (attribute, name, by) => {
      const to = nodes.step(from, attribute, by);
      if (to < 0) return h("td", { class: "number muted" }, "–");
      const change = nodes.suppressed[to] - nodes.suppressed[from];
      const words = `${change > 0 ? "+" : change < 0 ? "−" : "±"}${number(Math.abs(change))}`;
      return h(
        "td",
        { class: "number" },
        h(
          "button",
          {
            class: `node-step ${nodes.meetsRequest(to) ? "good" : ""}`,
            type: "button",
            title: `${number(nodes.suppressed[to])} rows suppressed, loss ${significant(nodes.losses[to])}`,
            aria: {
              label: `${name} one level ${by > 0 ? "more" : "less"}: ${number(nodes.suppressed[to])} rows suppressed`,
            },
            on: { click: () => this.actions.onLook(to) },
          },
          words,
        ),
      );
    };
    const levels = nodes.levelsOf(from);
    clear(
      this.steps,
      h(
        "table",
        { class: "table dense steps-table" },
        h("caption", {}, "Suppressed rows more or fewer, one level away"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "attribute"),
            h("th", { scope: "col", class: "number" }, "level"),
            h("th", { scope: "col", class: "number" }, "−1"),
            h("th", { scope: "col", class: "number" }, "+1"),
          ),
        ),
        h(
          "tbody",
          {},
          facts.attributes.map((attribute, i) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, breakable(attribute.name)),
              h("td", { class: "number nowrap" }, `${levels[i]} / ${attribute.height}`),
              cell(i, attribute.name, -1),
              cell(i, attribute.name, 1),
            ),
          ),
        ),
      ),
    );
  }
}

/** Return a name that may break after its underscores. */
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, i) => (i === 0 ? [part] : [h("wbr"), part]));
}
