// Negotiate: k, l and limits on the left, the lattice in the middle, the answer on the right; more below.

import { cancel, errorText, follow, get, post, put, remove } from "../api.js";
import { button, empty, linkButton, notice, screenHead } from "../components/parts.js";
import { progress } from "../components/progress.js";
import { clear, h } from "../dom.js";
import { count, number, share } from "../format.js";
import { LatticeChart } from "../lattice/chart.js";
import { MoveSocket } from "../lattice/frame.js";
import { legend } from "../lattice/legend.js";
import { LatticeNodes } from "../lattice/nodes.js";
import { AnswerPanel } from "./negotiate-answer.js";
import { MorePanel } from "./negotiate-more.js";
import { RequestPanel } from "./negotiate-request.js";

const LEAD = "Move a slider: every node of the lattice is answered at once.";
const SETTLED = 900; // milliseconds without a move, after which a request goes into the history

export async function show(root, context) {
  const { signal, announce } = context;
  const status = h("p", { class: "lead" }, LEAD);
  clear(root, screenHead({ title: "Negotiate" }), status);
  let start;
  try {
    start = await get("/api/negotiate", { signal });
    if (!start.evaluated) await evaluate(root, context, start.request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    clear(root, screenHead({ title: "Negotiate" }), lacking(error));
    return null;
  }
  const facts = await get("/api/negotiate/lattice", { signal });
  const { requests } = await get("/api/negotiate/requests", { signal });
  const negotiation = new Negotiation(root, context, facts, requests);
  negotiation.begin(start.request, start.choice);
  announce("The lattice is ready.");
  return () => negotiation.close();
}

function lacking(error) {
  const nothing = error.kind === "not-found";
  return empty({
    title: nothing ? "There is no table yet" : "The lattice cannot be evaluated yet",
    text: nothing
      ? "Negotiation needs a table, the roles of its columns, and a hierarchy for each quasi-identifier. Load a " +
        "table first."
      : errorText(error),
    actions: [
      linkButton(nothing ? "Load a table" : "Go to Columns", nothing ? "#/load" : "#/columns", { tone: "primary" }),
    ],
  });
}

/** Count and evaluate in a job, with its progress, until it is done. */
async function evaluate(root, { signal }, request) {
  const started = await post("/api/negotiate/evaluation", { request }, { signal });
  if (started.job === null) return;
  for (;;) {
    const bar = progress("Evaluating the lattice", { onCancel: () => cancel(started.job) });
    clear(
      root,
      screenHead({
        title: "Negotiate",
        lead: "Every node of the lattice is counted once; after that each answer is a look-up.",
      }),
      h("div", { class: "panel" }, h("div", { class: "panel-body" }, bar.element)),
    );
    try {
      await follow(started.job, (job) => bar.set(job.done, job.total, job.notices.at(-1) ?? job.stage ?? ""), {
        signal,
      });
      return;
    } catch (error) {
      bar.element.remove();
      if (signal.aborted || error.name !== "AbortError") throw error;
      await new Promise((resolve) =>
        clear(
          root,
          screenHead({ title: "Negotiate" }),
          empty({
            title: "The evaluation was cancelled",
            text: "Nothing was lost. The lattice can be evaluated at any time.",
            actions: [button("Evaluate the lattice", { tone: "primary", onClick: resolve })],
          }),
        ),
      );
      started.job = (await post("/api/negotiate/evaluation", { request }, { signal })).job;
      if (started.job === null) return;
    }
  }
}

/** One visit of the screen: what is asked, what was answered, and the parts that show it. */
class Negotiation {
  constructor(root, context, facts, history) {
    Object.assign(this, { root, context, facts });
    const { signal, announce } = context;
    this.nodes = null;
    this.answer = null;
    this.asked = null; // the node that was clicked or walked to; null: the answer's own
    this.past = history.map((entry) => entry.request);
    this.at = this.past.length - 1;
    this.chart = new LatticeChart({
      signal,
      onChoose: (place) => this.look(place),
      onHover: (place) => this.hovered(place),
      onReset: () => this.lookAtAnswer(),
    });
    this.request = new RequestPanel(facts, { onChange: (body) => this.changed(body) });
    this.shown = new AnswerPanel(facts, this.chart.scale, {
      announce,
      onApply: (body) => this.apply(body, "Relaxation applied"),
      onLook: (place) => this.look(place),
      onPoint: (place) => this.chart.point(place),
      onChoose: () => this.choose(),
      onUnchoose: () => this.unchoose(),
      onCompare: () => this.more.compare(this.answer.node.levels),
      onReset: () => this.lookAtAnswer(),
    });
    this.more = new MorePanel(facts, {
      signal,
      announce,
      state: () => this,
      onApply: (body) => this.apply(body, "Request taken from the history"),
      onLook: (levels) => this.lookAt(levels),
    });
    this.layOut();
    this.socket = new MoveSocket("/api/negotiate/socket", {
      onAnswer: (answer, last) => this.take(answer, last),
      onState: (open) => {
        this.offline.hidden = open;
      },
    });
    root.addEventListener("keydown", (event) => this.shortcut(event), { signal });
  }

  layOut() {
    const { facts } = this;
    this.many = h("span", { class: "muted small grow" });
    this.undo = button("Undo", { small: true, icon: "undo", onClick: () => this.travel(-1) });
    this.redo = button("Redo", { small: true, icon: "redo", onClick: () => this.travel(1) });
    this.save = button("Write into the spec", {
      small: true,
      onClick: () => this.saveRequest(),
      title: "The command line then asks the same",
    });
    this.offline = notice("The connection broke off; it is being made again.", "warning");
    this.offline.hidden = true;
    this.waiting = h("div", { class: "evaluating" });
    this.live = h("p", { class: "lattice-live", role: "status", aria: { live: "polite" } });
    const frontier = h("input", {
      type: "checkbox",
      checked: true,
      on: {
        change: (event) => {
          this.chart.showsFrontier = event.target.checked;
          this.chart.drawMarks();
        },
      },
    });
    const zoom = (label, words, run) =>
      h(
        "button",
        { class: "button small icon-button", type: "button", aria: { label: words }, title: words, on: { click: run } },
        label,
      );
    this.lattice = h(
      "section",
      { class: "panel lattice-panel", aria: { label: "Lattice" } },
      h(
        "div",
        { class: "panel-head" },
        h("h2", {}, "Lattice"),
        this.many,
        h(
          "label",
          { class: "check small" },
          frontier,
          h("span", { class: "swatch frontier", aria: { hidden: true } }),
          h("span", {}, "Frontier"),
        ),
        h(
          "div",
          { class: "row zooms" },
          zoom("+", "Zoom in", () => this.chart.zoomAtChosen(1.5)),
          zoom("−", "Zoom out", () => this.chart.zoomAtChosen(1 / 1.5)),
          zoom("⤢", "Show the whole lattice", () => this.chart.fit()),
        ),
      ),
      facts.partial &&
        h(
          "p",
          { class: "partial-note small" },
          `The whole lattice of ${number(facts.of)} nodes does not fit the memory limit. Shown are the most ` +
            `important nodes, and those that answers had counted; the answer says what is proven.`,
        ),
      this.waiting,
      this.chart.element,
      (this.legendArea = h("div", {})),
      this.live,
    );
    clear(
      this.root,
      h(
        "header",
        { class: "negotiate-head" },
        h("h1", {}, "Negotiate"),
        h("p", { class: "muted small grow" }, LEAD),
        this.offline,
        h("div", { class: "row" }, this.undo, this.redo, this.save),
      ),
      h("div", { class: "negotiate-main" }, this.request.element, this.lattice, this.shown.element),
      this.more.element,
    );
  }

  begin(body, choice) {
    this.choice = choice;
    if (this.at < 0 || JSON.stringify(this.past[this.at]) !== JSON.stringify(body)) {
      this.past.push(body);
      this.at = this.past.length - 1;
    }
    this.request.set(body);
    this.ask();
  }

  close() {
    clearTimeout(this.settling);
    clearTimeout(this.idle);
    this.socket.close();
    this.shown.close();
  }

  // --- asking ---

  ask(extra = {}) {
    const levels = this.asked;
    this.socket.send({ request: this.request.body(), ...(levels ? { levels } : {}), ...extra });
  }

  changed() {
    this.asked = null;
    this.ask();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLED);
  }

  /** Set a whole request: a relaxation, or one of the history. */
  apply(body, words = null) {
    this.asked = null;
    this.request.set(body);
    this.ask();
    this.settle();
    if (words) this.context.announce(words);
  }

  /** Evaluate the lattice for a criterion that it was not counted for yet; the last answer stays in sight. */
  async evaluateAgain() {
    if (this.evaluating) return;
    this.evaluating = true;
    const { signal } = this.context;
    try {
      const started = await post("/api/negotiate/evaluation", { request: this.request.body() }, { signal });
      if (started.job !== null) {
        const bar = progress("Evaluating the lattice again", { onCancel: () => cancel(started.job) });
        clear(this.waiting, bar.element);
        await follow(started.job, (job) => bar.set(job.done, job.total, job.notices.at(-1) ?? job.stage ?? ""), {
          signal,
        });
      }
      this.evaluating = false;
      this.ask();
      this.settle();
    } catch (error) {
      this.evaluating = false;
      if (signal.aborted) return;
      this.request.set(this.answer?.request ?? this.past[this.at]);
      if (error.name !== "AbortError") this.context.toast(errorText(error), { tone: "bad" });
    } finally {
      clear(this.waiting);
    }
  }

  /** Keep the request in the history, where it differs from the one before. */
  async settle() {
    clearTimeout(this.settling);
    const body = this.request.body();
    if (this.evaluating || this.request.isWrong || JSON.stringify(body) === JSON.stringify(this.past[this.at])) return;
    this.past = [...this.past.slice(0, this.at + 1), body];
    this.at = this.past.length - 1;
    this.showTravel();
    try {
      await post("/api/negotiate/requests", { request: body });
      this.more.historyChanged();
    } catch (error) {
      if (error.name !== "AbortError") this.context.toast(errorText(error), { tone: "bad" });
    }
  }

  travel(by) {
    if (by < 0) this.settle();
    const to = this.at + by;
    if (to < 0 || to >= this.past.length) return;
    this.at = to;
    this.asked = null;
    this.request.set(this.past[to]);
    this.ask();
    this.showTravel();
    this.context.announce(by < 0 ? "Undone" : "Redone");
  }

  showTravel() {
    this.undo.disabled = this.at <= 0;
    this.redo.disabled = this.at >= this.past.length - 1;
  }

  shortcut(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    const typing = event.target.matches("input[type=number], input[type=text], textarea");
    if (typing || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    this.travel(key === "y" || event.shiftKey ? 1 : -1);
  }

  // --- answers ---

  take(answer, last) {
    if (answer.error?.kind === "not-evaluated") {
      this.evaluateAgain();
      return;
    }
    if (answer.error) {
      this.request.setError(answer.error);
      if (answer.error.kind === "conflict") this.context.go(`negotiate?again=${Date.now()}`);
      return;
    }
    this.request.setError(null);
    const { arrays } = answer;
    if (arrays.levels) {
      this.nodes = new LatticeNodes({
        attributes: this.facts.attributes,
        starts: answer.starts,
        levels: arrays.levels,
        losses: arrays.losses,
        rows: answer.rows,
      });
      this.chart.setNodes(this.nodes);
      const whole = this.facts.partial ? ` of ${number(this.facts.of)}` : "";
      this.many.textContent = `${count(this.nodes.count, "node")}${whole}, ${count(answer.rows, "row")}`;
    }
    this.answer = answer;
    this.nodes.answer({
      suppressed: arrays.suppressed ?? null,
      limit: answer.limit,
      low: answer.low,
      high: answer.high,
    });
    const answers = answer.answers.map((each) => ({
      place: each.place ?? -1,
      name: each.relaxed === null ? "answer" : answer.cards.find((card) => card.relaxed === each.relaxed).mark,
    }));
    this.chart.mark({
      chosen: answer.node.place ?? -1,
      request: answer.high_place ?? -1,
      answers,
      ...(answer.frontier ? { frontier: answer.frontier } : {}),
    });
    this.chart.draw();
    this.shown.show(answer, this.nodes, this.chart.marks, this.isChosen());
    this.request.mark(answer.node.levels);
    this.say(answer.node);
    if (!this.legendShown) this.showLegend();
    this.root.dataset.move = answer.id;
    clearTimeout(this.idle);
    if (last) this.idle = setTimeout(() => this.rest(), 250);
    this.showTravel();
  }

  /** What can wait until moves rest: the frontier of a large lattice, and the panel below. */
  rest() {
    if (
      this.answer &&
      this.frontierOf !== this.answer.requirement &&
      !this.answer.frontier &&
      this.nodes.count > 100000
    ) {
      this.frontierOf = this.answer.requirement;
      this.ask({ frontier: true });
      return;
    }
    this.more.changed();
  }

  showLegend() {
    this.legendShown = true;
    clear(this.legendArea, legend());
  }

  say(node) {
    const verdict =
      node.place !== null && this.nodes.meetsRequest(node.place)
        ? "meets the request"
        : node.suppressed <= this.answer.limit
          ? "within the limit, but outside the levels asked"
          : "does not meet the request";
    const levels = this.facts.attributes.map(({ name }) => `${name} ${node.levels[name]}`).join(", ");
    this.live.textContent =
      `Height ${node.height}: ${levels}. ${number(node.suppressed)} rows ` +
      `(${share(node.suppressed, node.rows)}) suppressed; ${verdict}.`;
  }

  // --- looking at nodes ---

  look(place) {
    this.lookAt(this.nodes.byName(place));
  }

  lookAt(levels) {
    this.asked = levels;
    this.ask();
  }

  lookAtAnswer() {
    this.asked = null;
    this.ask();
  }

  hovered(place) {
    this.shown.highlight(place);
  }

  // --- choosing ---

  isChosen() {
    return (
      this.choice !== null &&
      this.choice !== undefined &&
      this.facts.attributes.every(({ name }) => this.choice.levels[name] === this.answer.node.levels[name]) &&
      JSON.stringify(this.choice.request) === JSON.stringify(this.answer.request)
    );
  }

  async choose() {
    try {
      this.choice = await put("/api/negotiate/choice", {
        request: this.request.body(),
        levels: this.answer.node.levels,
      });
      this.shown.chosen(true);
      this.context.state.refresh().catch(() => {});
      this.context.toast("The node is chosen for the release.", {
        tone: "good",
        action: { label: "Go to Publish", run: () => this.context.go("publish") },
      });
    } catch (error) {
      this.context.toast(errorText(error), { tone: "bad" });
    }
  }

  async unchoose() {
    await remove("/api/negotiate/choice");
    this.choice = null;
    this.shown.chosen(false);
  }

  async saveRequest() {
    try {
      await post("/api/negotiate/spec", { request: this.request.body() });
      this.context.toast("The request is in the spec; the command line asks the same now.", { tone: "good" });
    } catch (error) {
      this.context.toast(errorText(error), { tone: "bad" });
    }
  }
}
