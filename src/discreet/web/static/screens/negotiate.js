// Negotiate: the request at the left, the lattice as the stage with the answer in its corners, the effects below.

import { get, post, put, remove } from "../api.js";
import { watchJob } from "../components/job.js";
import { screenHead } from "../components/parts.js";
import { toastError } from "../components/status.js";
import { clear, h } from "../dom.js";
import { draftOf, keepDraft } from "../drafts.js";
import { share } from "../format.js";
import { MoveSocket } from "../lattice/frame.js";
import { Effects } from "../negotiate/effects.js";
import { evaluate, lacking } from "../negotiate/evaluation.js";
import { LatticePanel } from "../negotiate/lattice-panel.js";
import { showLeftOut } from "../negotiate/left-out.js";
import { MorePanel } from "../negotiate/more.js";
import { NodePanel } from "../negotiate/node-panel.js";
import { Offers } from "../negotiate/offers.js";
import { PhoneBar } from "../negotiate/phone-bar.js";
import { RequestPanel } from "../negotiate/request.js";
import { savedAnswers } from "../negotiate/saved-answers.js";
import { Tray } from "../negotiate/tray.js";
import { Figures, Verdict } from "../negotiate/verdict.js";
import { tagOf } from "../negotiate/words.js";

const SETTLED = 900; // milliseconds without a move, after which a request goes into the history
const RESTED = 120; // milliseconds without a move, after which the panel below follows
const MANY_NODES = 100000; // of which the frontier is asked for only once moves rest

export async function show(root, context) {
  const { signal, announce } = context;
  clear(root, screenHead({ title: "Negotiate" }));
  let start;
  try {
    start = await get("/api/negotiate", { signal });
    if (!start.evaluated) await evaluate(root, context, start);
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
    this.verdict = new Verdict(facts);
    this.figures = new Figures(facts, {
      onWho: () => showLeftOut({ request: this.answer.request, node: this.answer.node }),
      onBack: () => this.lookAt(null),
    });
    this.offers = new Offers({
      signal,
      onApply: (body) => this.apply(body, "Applied"),
      onPoint: (place) => this.lattice.chart.point(place),
      onShow: (offers) => this.lattice.offer(offers),
    });
    const corners = {
      verdict: this.verdict.element,
      offers: this.offers.element,
      figures: this.figures.element,
    };
    this.lattice = new LatticePanel(facts, corners, {
      signal,
      onChoose: (place) => this.look(place),
      onHover: (place) => this.shown.highlight(place),
      onReset: () => this.lookAt(null),
    });
    this.effects = new Effects(facts, { signal, onLooks: () => this.ask() });
    this.layOutMore(facts);
    this.bar = new PhoneBar();
    this.tray = new Tray({
      signal,
      onVersions: () => context.versions(),
      onMore: () => this.openMore(this.below.hidden),
      onKeep: () => this.saveRequest(),
      onPublish: () => this.publish(),
      request: () => this.request.body(),
    });
    this.layOut();
    this.socket = new MoveSocket("/api/negotiate/socket", {
      onAnswer: (answer, last) => this.take(answer, last),
    });
  }

  /** What stands below the tray once it is asked for: the node in detail, tables, the history. */
  layOutMore(facts) {
    const { signal, announce } = this.context;
    this.shown = new NodePanel(facts, this.lattice.chart.scale, {
      announce,
      onLook: (place) => this.look(place),
      onPoint: (place) => this.lattice.chart.point(place),
      onTab: () => this.askFrontier(),
      onChoose: () => this.choose(),
      onUnchoose: () => this.unchoose(),
      onCompare: () => this.more.compare(this.answer.node.levels),
    });
    this.more = new MorePanel(facts, {
      signal,
      announce,
      answer: () => this.answer,
      current: () => this.kept,
      onApply: (body) => this.apply(body, "Request taken from the history"),
      onLook: (levels) => this.lookAt(levels),
    });
    this.below = h(
      "section",
      { class: "below", id: "more-of-it", hidden: true, aria: { label: "More about it" } },
      h("div", { class: "below-side" }, this.request.further, this.shown.element),
      this.more.element,
    );
  }

  layOut() {
    this.saved = savedAnswers({
      current: () => ({ request: this.request.body(), levels: this.answer.node.levels }),
      onBack: ({ request, levels }) => {
        this.apply(request, "Saved answer");
        this.lookAt(levels);
      },
      signal: this.context.signal,
    });
    this.tray.saved.append(this.saved.element);
    clear(
      this.root,
      this.bar.element,
      h(
        "div",
        { class: "composition" },
        this.request.element,
        this.lattice.element,
        this.effects.element,
        this.effects.dots,
      ),
      this.tray.element,
      this.below,
    );
    if (this.context.params.get("more")) this.openMore(true);
  }

  openMore(open) {
    this.below.hidden = !open;
    this.tray.more.setAttribute("aria-expanded", String(open));
    if (!open || !this.answer) return;
    this.shown.showTab();
    this.askFrontier();
    this.more.changed();
    this.below.scrollIntoView({ block: "start" });
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
    const looks = this.effects.looks();
    const frontier = this.wantsFrontier && this.facts.nodes <= MANY_NODES;
    this.socket.send({ request: this.request.body(), looks, frontier, ...(levels ? { levels } : {}), ...extra });
  }

  /** Whether the frontier is in sight; otherwise no answer waits for it. */
  get wantsFrontier() {
    return this.shown.tab === "frontier" && !this.below.hidden;
  }

  /** Ask for the frontier where it is in sight and of another request; whether it is asked for. */
  askFrontier() {
    if (!this.answer || !this.wantsFrontier || this.lattice.hasFrontierOf(this.answer)) return false;
    this.ask({ frontier: true });
    return true;
  }

  changed() {
    this.lookAt(null); // asks first: what is kept is kept while the server counts
    keepDraft("request", { of: this.draftOf, body: this.request.body() });
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
    const before = this.kept;
    this.kept = request;
    try {
      await post("/api/negotiate/requests", { request });
      keepDraft("request", null);
      this.more.historyChanged();
      this.context.state.refresh().catch(() => {});
    } catch (error) {
      // The answer to the move may come after this one: it starts the evaluation, which settles once more.
      if (error.kind !== "not-evaluated") toastError(error);
      else this.kept = before;
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
      if (this.answer) this.verdict.grey();
      if (answer.error.kind === "conflict") this.context.go(`negotiate?again=${Date.now()}`);
      return;
    }
    this.answer = answer;
    this.verdict.show(answer);
    this.figures.show(answer);
    this.request.mark(answer.node.levels);
    if (answer.arrays.levels) this.lattice.take(answer);
    this.offers.show(answer); // before the lattice, which draws their numbers
    this.lattice.show(answer);
    this.effects.show(answer);
    const isChosen = this.isChosen();
    const isInSight = !this.below.hidden;
    this.shown.show(answer, this.lattice.nodes, this.lattice.chart.marks, { isChosen, isInSight });
    this.tray.show({ canPublish: answer.node.suppressed <= answer.limit, isChosen });
    const { k } = answer.request;
    const { tag, is } = tagOf(answer);
    const figure = `${share(answer.node.suppressed, answer.rows)} of ${share(answer.limit, answer.rows)} allowed`;
    this.bar.tell(this.verdict.sentence.textContent, { k, tag, is, figure });
    this.root.dataset.move = answer.id;
    clearTimeout(this.idle);
    if (last) this.idle = setTimeout(() => this.rest(), RESTED);
  }

  /** What can wait until moves rest: the frontier of a large lattice, and the panel below. */
  rest() {
    this.offers.rest().catch((error) => error.name !== "AbortError" && toastError(error));
    if (!this.askFrontier() && !this.below.hidden) this.more.changed();
  }

  // --- looking at nodes ---

  look(place) {
    this.lookAt(this.lattice.nodes.byName(place));
  }

  /** Ask for a node by its levels; null: the answer's own. */
  lookAt(levels) {
    this.asked = levels;
    this.ask();
    const node = levels && this.facts.attributes.map(({ name }) => levels[name]).join(".");
    this.context.keepPlace({ node });
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
      return true;
    } catch (error) {
      toastError(error);
      return false;
    }
  }

  /** The request and the node go to Publish, filled in. */
  async publish() {
    if (this.answer.node.suppressed > this.answer.limit) {
      this.context.announce("More rows would be suppressed than you allow.");
      return;
    }
    if (this.isChosen() || (await this.choose())) this.context.go("publish");
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
