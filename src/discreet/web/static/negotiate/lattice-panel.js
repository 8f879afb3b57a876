// The lattice in the middle: its chart, the ways to look at it, and the node that is shown in words.

import { clear, h } from "../dom.js";
import { count, number, share } from "../format.js";
import { LatticeChart } from "../lattice/chart.js";
import { legend } from "../lattice/legend.js";
import { LatticeNodes } from "../lattice/nodes.js";

/** The panel in the middle; `onChoose(place)`, `onHover(place)` and `onReset()` come from its chart. */
export class LatticePanel {
  constructor(facts, { signal, onChoose, onHover, onReset }) {
    this.facts = facts;
    this.nodes = null;
    this.chart = new LatticeChart({ signal, onChoose, onHover, onReset });
    this.many = h("span", { class: "muted small grow" });
    this.waiting = h("div", { class: "evaluating" });
    this.live = h("p", { class: "lattice-live", role: "status", aria: { live: "polite" } });
    this.legend = h("div", {});
    this.element = h(
      "section",
      { class: "panel lattice-panel", aria: { label: "Lattice" } },
      h("div", { class: "panel-head" }, h("h2", {}, "Lattice"), this.many, this.frontierSwitch(), this.zooms()),
      facts.partial &&
        h(
          "p",
          { class: "partial-note small" },
          `The whole lattice of ${number(facts.of)} nodes does not fit the memory limit. Shown are the most ` +
            `important nodes, and those that answers had counted; the answer says what is proven.`,
        ),
      this.waiting,
      this.chart.element,
      this.legend,
      this.live,
    );
  }

  frontierSwitch() {
    const box = h("input", {
      type: "checkbox",
      checked: true,
      on: {
        change: () => {
          this.chart.showsFrontier = box.checked;
          this.chart.drawMarks();
        },
      },
    });
    return h(
      "label",
      { class: "check small" },
      box,
      h("span", { class: "swatch frontier", aria: { hidden: true } }),
      h("span", {}, "Frontier"),
    );
  }

  zooms() {
    const zoom = (label, words, run) =>
      h(
        "button",
        { class: "button small icon-button", type: "button", aria: { label: words }, title: words, on: { click: run } },
        label,
      );
    return h(
      "div",
      { class: "row zooms" },
      zoom("+", "Zoom in", () => this.chart.zoomAtChosen(1.5)),
      zoom("−", "Zoom out", () => this.chart.zoomAtChosen(1 / 1.5)),
      zoom("⤢", "Show the whole lattice", () => this.chart.fit()),
    );
  }

  /** Show an answer: colour the nodes by it, and mark those that it names. */
  show(answer) {
    const { arrays } = answer;
    if (arrays.levels) this.take(answer);
    this.nodes.answer({
      suppressed: arrays.suppressed ?? null,
      limit: answer.limit,
      low: answer.low,
      high: answer.high,
    });
    this.chart.mark({
      chosen: answer.node.place ?? -1,
      request: answer.high_place ?? -1,
      answers: answer.answers.map((each) => ({
        place: each.place ?? -1,
        name: each.relaxed === null ? "answer" : answer.cards.find((card) => card.relaxed === each.relaxed).mark,
      })),
      ...(answer.frontier ? { frontier: answer.frontier, cost: answer.frontier_cost ?? null } : {}),
    });
    this.chart.draw();
    this.say(answer);
    if (!this.legend.hasChildNodes()) clear(this.legend, legend());
  }

  /** Take the nodes that came with an answer. */
  take({ starts, rows, arrays: { levels, losses } }) {
    const { attributes, partial, of } = this.facts;
    this.nodes = new LatticeNodes({ attributes, starts, levels, losses, rows });
    this.chart.setNodes(this.nodes);
    const whole = partial ? ` of ${number(of)}` : "";
    this.many.textContent = `${count(this.nodes.count, "node")}${whole}, ${count(rows, "row")}`;
  }

  say({ node, limit }) {
    const levels = this.facts.attributes.map(({ name }) => `${name} ${node.levels[name]}`).join(", ");
    this.live.textContent =
      `Height ${node.height}: ${levels}. ${number(node.suppressed)} rows ` +
      `(${share(node.suppressed, node.rows)}) suppressed; ${this.verdict(node, limit)}.`;
  }

  verdict(node, limit) {
    if (node.place !== null && this.nodes.meetsRequest(node.place)) return "meets the request";
    return node.suppressed <= limit ? "within the limit, but outside the levels asked" : "does not meet the request";
  }
}
