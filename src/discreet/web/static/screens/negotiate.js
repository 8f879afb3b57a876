// Negotiate: k, l and limits on the left, the lattice in the middle, the answer on the right; more below.

import { get, post, put, remove } from "../api.js";
import { watchJob } from "../components/job.js";
import { button, screenHead } from "../components/parts.js";
import { scriptActions } from "../components/script-actions.js";
import { toastError } from "../components/status.js";
import { clear, h } from "../dom.js";
import { draftOf, keepDraft } from "../drafts.js";
import { MoveSocket } from "../lattice/frame.js";
import { AnswerPanel } from "../negotiate/answer.js";
import { evaluate, lacking } from "../negotiate/evaluation.js";
import { LatticePanel } from "../negotiate/lattice-panel.js";
import { MorePanel } from "../negotiate/more.js";
import { PhoneBar } from "../negotiate/phone-bar.js";
import { RequestPanel } from "../negotiate/request.js";
import { savedAnswers } from "../negotiate/saved-answers.js";

const LEAD = "Move a slider: every node of the lattice is answered at once.";
const SETTLED = 900; // milliseconds without a move, after which a request goes into the history
const RESTED = 250; // milliseconds without a move, after which the panel below follows
const MANY_NODES = 100000; // of which the frontier is asked for only once moves rest

export async function show(root, context) {
  const { signal, announce } = context;
  clear(root, screenHead({ title: "Negotiate" }), h("p", { class: "lead" }, LEAD));
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
  const negotiation = new Negotiation(root, context, facts);
  negotiation.begin(start.request, start.choice);
  announce("The lattice is ready.");
  return {
    leave: () => negotiation.close(),
    settle: () => negotiation.settle(),
    travelled: (answer) => negotiation.travelled(answer),
  };
}

/** One visit of the screen: what is asked, what was answered, and the parts that show it. */
class Negotiation {
  constructor(root, context, facts) {
    Object.assign(this, { root, context, facts });
    const { signal, announce } = context;
    this.answer = null;
    this.asked = null; // the node that was clicked or walked to; null: the answer's own
    this.kept = null; // the request that the workspace has
    this.request = new RequestPanel(facts, { onChange: () => this.changed() });
    this.lattice = new LatticePanel(facts, {
      signal,
      onChoose: (place) => this.look(place),
      onHover: (place) => this.shown.highlight(place),
      onReset: () => this.lookAt(null),
    });
    this.shown = new AnswerPanel(facts, this.lattice.chart.scale, {
      announce,
      onApply: (body) => this.apply(body, "Relaxation applied"),
      onLook: (place) => this.look(place),
      onPoint: (place) => this.lattice.chart.point(place),
      onChoose: () => this.choose(),
      onUnchoose: () => this.unchoose(),
      onCompare: () => this.more.compare(this.answer.node.levels),
      onReset: () => this.lookAt(null),
    });
    this.more = new MorePanel(facts, {
      signal,
      announce,
      answer: () => this.answer,
      current: () => this.kept,
      onApply: (body) => this.apply(body, "Request taken from the history"),
      onLook: (levels) => this.lookAt(levels),
    });
    this.bar = new PhoneBar(this.request.k, signal);
    this.layOut();
    this.socket = new MoveSocket("/api/negotiate/socket", {
      onAnswer: (answer, last) => this.take(answer, last),
    });
  }

  layOut() {
    const save = button("Keep for the command line", {
      small: true,
      onClick: () => this.saveRequest(),
      title: "The command line then asks the same",
    });
    const { signal } = this.context;
    this.saved = savedAnswers({
      current: () => ({ request: this.request.body(), levels: this.answer.node.levels }),
      onBack: ({ request, levels }) => {
        this.apply(request, "Saved answer");
        this.lookAt(levels);
      },
      signal,
    });
    const copies = scriptActions("request", () => ({ request: this.request.body() }), { signal });
    clear(
      this.root,
      h(
        "header",
        { class: "negotiate-head" },
        h("h1", {}, "Negotiate"),
        h("p", { class: "muted small grow lead-words" }, LEAD),
        h("div", { class: "row" }, save),
      ),
      this.bar.element,
      h("div", { class: "negotiate-main" }, this.request.element, this.lattice.element, this.shown.element),
      h("div", { class: "saved-tray" }, this.saved.element, h("div", { class: "tray-links" }, copies)),
      this.more.element,
    );
  }

  begin(body, choice) {
    Object.assign(this, { choice, kept: body });
    const draft = draftOf("request");
    const isOurs = draft !== null && draft.of === this.draftOf;
    this.request.set(isOurs ? draft.body : body);
    this.asked = this.levelsInPlace();
    this.ask();
    if (isOurs) this.settle();
  }

  /** What a draft of a request must be of: the same attributes with the same levels. */
  get draftOf() {
    return JSON.stringify(this.facts.attributes.map(({ name, height }) => [name, height]));
  }

  /** The node that the address names, null where it names none of this lattice. */
  levelsInPlace() {
    const levels = (this.context.params.get("node") ?? "").split(".").map(Number);
    const { attributes } = this.facts;
    const fits = levels.length === attributes.length && levels.every((at, i) => at >= 0 && at <= attributes[i].height);
    return fits && this.context.params.get("node")
      ? Object.fromEntries(attributes.map(({ name }, i) => [name, levels[i]]))
      : null;
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
    keepDraft("request", { of: this.draftOf, body: this.request.body() });
    this.lookAt(null);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLED);
  }

  /** Set a whole request: a relaxation, or one of the history. */
  apply(body, words) {
    this.request.set(body);
    this.lookAt(null);
    this.settle();
    this.context.announce(words);
  }

  /** Evaluate the lattice for a criterion that it was not counted for yet; the last answer stays in sight. */
  async evaluateAgain() {
    if (this.evaluating) return;
    this.evaluating = true;
    const { signal } = this.context;
    const start = () => post("/api/negotiate/evaluation", { request: this.request.body() }, { signal });
    try {
      await watchJob(this.lattice.waiting, "Evaluating the lattice again", start, { signal });
      this.evaluating = false;
      this.ask();
      this.settle();
    } catch (error) {
      this.evaluating = false;
      if (signal.aborted) return;
      this.request.set(this.answer?.request ?? this.kept);
      toastError(error);
    }
  }

  /** Keep the request as a version, where it differs from the one before. */
  async settle() {
    clearTimeout(this.settling);
    const request = this.request.body();
    const isKept = JSON.stringify(request) === JSON.stringify(this.kept);
    if (isKept) keepDraft("request", null);
    if (this.evaluating || this.request.isWrong || isKept) return;
    this.kept = request;
    try {
      await post("/api/negotiate/requests", { request });
      keepDraft("request", null);
      this.more.historyChanged();
      this.context.state.refresh().catch(() => {});
    } catch (error) {
      toastError(error);
    }
  }

  /** Show the request and the choice of another version; false where more than these changed. */
  async travelled({ changed }) {
    if (changed.some((part) => part === "spec" || part === "hierarchies")) return false;
    const { request, choice } = await get("/api/negotiate", { signal: this.context.signal });
    clearTimeout(this.settling);
    keepDraft("request", null);
    Object.assign(this, { kept: request, choice });
    this.request.set(request);
    this.lookAt(null);
    this.more.historyChanged();
    return true;
  }

  // --- answers ---

  take(answer, last) {
    if (answer.error?.kind === "not-evaluated") {
      this.evaluateAgain();
      return;
    }
    this.request.setError(answer.error ?? null);
    if (answer.error) {
      if (answer.error.kind === "conflict") this.context.go(`negotiate?again=${Date.now()}`);
      return;
    }
    this.answer = answer;
    this.lattice.show(answer);
    this.shown.show(answer, this.lattice.nodes, this.lattice.chart.marks, this.isChosen());
    this.request.mark(answer.node.levels);
    this.bar.tell(this.shown.sentence);
    this.root.dataset.move = answer.id;
    clearTimeout(this.idle);
    if (last) this.idle = setTimeout(() => this.rest(), RESTED);
  }

  /** What can wait until moves rest: the frontier of a large lattice, and the panel below. */
  rest() {
    const { requirement, frontier, request } = this.answer;
    const of = `${requirement} ${JSON.stringify(request.cost)}`;
    if (this.frontierOf !== of && !frontier && this.lattice.nodes.count > MANY_NODES) {
      this.frontierOf = of;
      this.ask({ frontier: true });
    } else {
      this.more.changed();
    }
  }

  // --- looking at nodes ---

  look(place) {
    this.lookAt(this.lattice.nodes.byName(place));
  }

  /** Ask for a node by its levels; null: the answer's own. */
  lookAt(levels) {
    this.asked = levels;
    const node = levels && this.facts.attributes.map(({ name }) => levels[name]).join(".");
    this.context.keepPlace({ node });
    this.ask();
  }

  // --- choosing ---

  isChosen() {
    const { choice, answer } = this;
    return (
      choice !== null &&
      choice !== undefined &&
      !choice.stale &&
      this.facts.attributes.every(({ name }) => choice.levels[name] === answer.node.levels[name]) &&
      JSON.stringify(choice.request) === JSON.stringify(answer.request)
    );
  }

  async choose() {
    const { context } = this;
    await this.settle();
    try {
      this.choice = await put("/api/negotiate/choice", {
        request: this.request.body(),
        levels: this.answer.node.levels,
      });
      this.shown.chosen(true);
      context.state.refresh().catch(() => {});
      context.toast("The node is chosen for the release.", {
        tone: "good",
        action: { label: "Go to Publish", run: () => context.go("publish") },
      });
    } catch (error) {
      toastError(error);
    }
  }

  async unchoose() {
    await remove("/api/negotiate/choice");
    this.choice = null;
    this.shown.chosen(false);
    this.context.state.refresh().catch(() => {});
  }

  async saveRequest() {
    try {
      await post("/api/negotiate/spec", { request: this.request.body() });
      this.context.toast("The command line asks the same now.", { tone: "good" });
    } catch (error) {
      toastError(error);
    }
  }
}
