// The stage: the lattice, and in its empty corners the sentence, the offers, figures and legend.

import { h } from "../dom.js";
import { number, share } from "../format.js";
import { LatticeChart } from "../lattice/chart.js";
import { legend } from "../lattice/legend.js";
import { LatticeNodes } from "../lattice/nodes.js";

/** The stage; `corners` are {verdict, offers, figures}; `onChoose(place)`, `onHover(place)`, `onReset()`. */
export class LatticePanel {
  constructor(facts, corners, { signal, onChoose, onHover, onReset }) {
    this.facts = facts;
    this.nodes = null;
    this.corners = corners;
    this.chart = new LatticeChart({ signal, onChoose, onHover, onReset });
    this.chart.corners = (width, height) => this.boxes(width, height);
    this.waiting = h("div", { class: "evaluating" });
    this.live = h("p", { class: "lattice-live visually-hidden", role: "status", aria: { live: "polite" } });
    this.legend = legend(facts);
    this.element = h(
      "section",
      { class: "stage", aria: { label: "Lattice" } },
      h("h1", { class: "visually-hidden" }, "Negotiate"),
      this.chart.element,
      corners.verdict,
      corners.offers,
      corners.figures,
      h("div", { class: "legend-corner" }, this.legend.element, this.zooms()),
      this.waiting,
      this.live,
    );
  }

  /** Return the boxes that no row may touch, by the largest possible content, so that no node moves. */
  boxes(width, height) {
    if (width < 600) {
      const low = Math.max(90, height - 62);
      return {
        middle: width / 2,
        corners: [
          { left: 0, right: 120, top: 0, bottom: 44 },
          { left: width - 96, right: width, top: 0, bottom: 44 },
          { left: 0, right: 110, top: low, bottom: low + 44 },
          { left: width - 110, right: width, top: low, bottom: low + 44 },
        ],
      };
    }
    const box = (element) => [element.offsetLeft, element.offsetTop, element.offsetWidth];
    const [, top, wide] = box(this.corners.verdict);
    const isWide = this.corners.offers.offsetLeft > width / 2;
    const right = isWide ? this.corners.offers.offsetLeft : width;
    const legendTop = this.legend.element.parentElement.offsetTop;
    return {
      middle: isWide ? 0.6 * right : width / 2,
      from: [1, top + 130],
      corners: [
        { left: 0, right: wide, top, bottom: top + (isWide ? 108 : 300) },
        ...(isWide ? [{ left: right, right: width, top: 0, bottom: 198 }] : []),
        { left: 0, right: 220, top: height - 134, bottom: height },
        { left: width - 190, right: width, top: Math.min(legendTop, height - 134), bottom: height },
      ],
    };
  }

  zooms() {
    const zoom = (label, words, run) =>
      h("button", { type: "button", aria: { label: words }, title: words, on: { click: run } }, label);
    return h(
      "div",
      { class: "zooms" },
      zoom("+", "Zoom in", () => this.chart.zoomAtChosen(1.5)),
      zoom("−", "Zoom out", () => this.chart.zoomAtChosen(1 / 1.5)),
      zoom("⤢", "Show the whole lattice", () => this.chart.fit()),
    );
  }

  /** Show an answer: colour the nodes, and mark those that it names. */
  show(answer) {
    const { arrays } = answer;
    this.nodes.answer({
      suppressed: arrays.suppressed ?? null,
      limit: answer.limit,
      low: answer.low,
      high: answer.high,
    });
    const is = answer.outcome === "exact";
    const fewest = answer.answers.find((each) => each.relaxed === "max_suppressed") ?? answer.answers[0];
    if (answer.frontier) this.frontierOf = frontierKey(answer);
    this.chart.mark({
      chosen: answer.node.place ?? -1,
      ...(answer.frontier ? { frontier: answer.frontier, cost: answer.frontier_cost ?? null } : {}),
    });
    this.chart.answerAt((is ? answer.answers[0].place : fewest?.place) ?? -1, is);
    this.chart.draw();
    this.legend.count(this.nodes);
    this.say(answer);
  }

  /** Return true if the current frontier belongs to an answer. */
  hasFrontierOf(answer) {
    return this.frontierOf === frontierKey(answer);
  }

  /** Store the nodes that an answer contains. */
  take({ starts, rows, arrays: { levels, losses } }) {
    const { attributes, widths } = this.facts;
    this.nodes = new LatticeNodes({ attributes, starts, levels, losses, rows, widths });
    this.chart.setNodes(this.nodes);
  }

  say({ node, limit }) {
    const levels = this.facts.attributes.map(({ name }) => `${name} ${node.levels[name]}`).join(", ");
    this.live.textContent =
      `Height ${node.height}: ${levels}. ${number(node.suppressed)} rows ` +
      `(${share(node.suppressed, node.rows)}) suppressed; ${this.verdict(node, limit)}.`;
  }

  verdict(node, limit) {
    if (node.place !== null && this.nodes.meetsRequest(node.place)) return "meets the request";
    return node.suppressed <= limit
      ? "within the limit, but outside the requested levels"
      : "does not meet the request";
  }

  /** Show the numbers of the offers. */
  offer(offers) {
    this.chart.mark({ offers });
    this.chart.drawSoon(true);
  }
}

/** Return the key of a frontier: the values that it depends on. */
function frontierKey({ version, requirement, request }) {
  return `${version} ${requirement} ${JSON.stringify(request.cost)}`;
}
