// Negotiate: the request at the left, the lattice as the stage with the answer in its corners, the effects below.

import { get, post, query } from "../api.js";
import { watchJob } from "../components/job.js";
import { screenHead } from "../components/parts.js";
import { toastError } from "../components/status.js";
import { clear, h } from "../dom.js";
import { share } from "../format.js";
import { MoveSocket } from "../lattice/frame.js";
import { Chosen } from "../negotiate/chosen.js";
import { Effects } from "../negotiate/effects.js";
import { evaluate, missingPrerequisites } from "../negotiate/evaluation.js";
import { Freshness } from "../negotiate/freshness.js";
import { KeptRequest } from "../negotiate/kept-request.js";
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

const SETTLED = 900; // milliseconds without a move, after which a request is added to the history
const RESTED = 120; // milliseconds without a move, after which the panel below is updated
const MANY_NODES = 100000; // nodes above which the frontier is requested only once moves rest

export async function show(root, context) {
  const { signal, announce } = context;
  clear(root, screenHead({ title: "Negotiate" }));
  let start;
  try {
    start = await get("/api/negotiate", { signal });
    if (!start.evaluated) await evaluate(root, context, start);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    clear(root, screenHead({ title: "Negotiate" }), missingPrerequisites(error));
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
    changed: (parts) => negotiation.freshness.changed(parts.length > 0),
    keep: () => negotiation.settle(),
  };
}

/** One visit of the screen: the request, the answer, and the parts that show them. */
class Negotiation {
  constructor(root, context, facts) {
    Object.assign(this, { root, context, facts });
    const { signal, announce } = context;
    this.answer = null;
    this.selected = null; // the node that was clicked or reached by keys; null: the answer's own
    const of = JSON.stringify(facts.attributes.map(({ name, height }) => [name, height]));
    this.kept = new KeptRequest(of, { onKept: () => this.onKept(), onRefused: (error) => this.onRefused(error) });
    this.freshness = new Freshness({ signal, onChange: (words) => this.outdate(words) });
    this.chosen = new Chosen({
      context,
      facts,
      freshness: this.freshness,
      sight: () => this.answer,
      settle: () => this.settle(),
      onChange: (is) => this.shown.chosen(is),
    });
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
      onPublish: () => this.chosen.publish(),
      request: () => this.request.body(),
    });
    this.layOut();
    this.socket = new MoveSocket("/api/negotiate/socket", {
      onAnswer: (answer, last) => this.take(answer, last),
      onState: (is) => this.freshness.opened(is),
    });
  }

  /** Build the panels below the tray when they are first opened: the node in detail, tables, the history. */
  layOutMore(facts) {
    const { signal, announce } = this.context;
    this.shown = new NodePanel(facts, this.lattice.chart.scale, {
      announce,
      onLook: (place) => this.look(place),
      onPoint: (place) => this.lattice.chart.point(place),
      onTab: () => this.askFrontier(),
      onChoose: () => this.chosen.choose(),
      onUnchoose: () => this.chosen.unchoose(),
      onCompare: () => this.more.compare(this.answer.node.levels),
    });
    this.more = new MorePanel(facts, {
      signal,
      announce,
      answer: () => this.answer,
      current: () => this.kept.kept,
      onApply: (body) => this.apply(body, "Request taken from the history"),
      onLook: (levels) => this.lookAt(levels),
    });
    this.below = h(
      "section",
      { class: "below", id: "more-of-it", hidden: true, aria: { label: "Details" } },
      h("div", { class: "below-side" }, this.request.further, this.shown.element),
      this.more.element,
    );
  }

  layOut() {
    this.saved = savedAnswers({
      current: () => {
        const { request, node } = this.answer;
        return this.chosen.isOfLastMove() ? { request, levels: node.levels } : null;
      },
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
    this.chosen.choice = choice;
    const { body: shown, isDraft, lost } = this.kept.begin(body);
    this.request.set(shown);
    this.selected = this.levelsInPlace();
    this.ask();
    if (isDraft) this.settle();
    if (lost === null) return;
    this.context.toast("Your last move was not saved: the request was changed in another tab since.", {
      action: { label: "Repeat my request", run: () => this.apply(lost, "Your last move") },
    });
  }

  /** Return the node in the address, null if there is none of this lattice. */
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
    const levels = this.selected;
    const looks = this.effects.looks();
    const frontier = this.wantsFrontier && this.facts.nodes <= MANY_NODES;
    this.freshness.requested();
    this.socket.send({ request: this.request.body(), looks, frontier, ...(levels ? { levels } : {}), ...extra });
  }

  /** True if the frontier is visible; otherwise no answer contains it. */
  get wantsFrontier() {
    return this.shown.tab === "frontier" && !this.below.hidden;
  }

  /** Request the frontier if it is visible and belongs to another request; return true if it is requested. */
  askFrontier() {
    if (!this.answer || !this.wantsFrontier || this.lattice.hasFrontierOf(this.answer)) return false;
    this.ask({ frontier: true });
    return true;
  }

  changed() {
    this.lookAt(null); // sends the move first: the request is saved while the server computes
    this.kept.draft(this.request.body());
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

  /** Evaluate the lattice for a further criterion; the last answer remains visible. */
  async evaluateAgain() {
    if (this.evaluating) return;
    this.evaluating = true;
    const { signal } = this.context;
    const start = () => query("/api/negotiate/evaluation", { request: this.request.body() }, { signal });
    try {
      await watchJob(this.lattice.waiting, "Evaluating the lattice again", start, { signal });
      this.evaluating = false;
      this.ask();
      this.settle();
    } catch (error) {
      this.evaluating = false;
      if (signal.aborted) return;
      this.request.set(this.answer?.request ?? this.kept.kept);
      this.ask();
      toastError(error);
    }
  }

  /** Save the request as a version if it changed; resolves with true if the server has confirmed it. */
  async settle() {
    clearTimeout(this.settling);
    if (this.evaluating || this.request.isWrong) return false;
    return this.kept.save(this.request.body());
  }

  onKept() {
    this.more.historyChanged();
    this.context.state.refresh().catch(() => {});
  }

  onRefused(error) {
    // The answer to the move may arrive later: it starts the evaluation, after which the request is saved again.
    if (error.kind !== "not-evaluated" && error.kind !== "changed-elsewhere") toastError(error);
  }

  /** Show the request and the choice of another version; return false if other parts changed too. */
  async travelled({ changed }) {
    if (changed.some((part) => part === "spec" || part === "hierarchies")) return false;
    const { request, choice } = await get("/api/negotiate", { signal: this.context.signal });
    clearTimeout(this.settling);
    this.kept.take(request);
    this.chosen.choice = choice;
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
      this.freshness.refused();
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
    const isChosen = this.chosen.is;
    const isInSight = !this.below.hidden;
    this.shown.show(answer, this.lattice.nodes, this.lattice.chart.marks, { isChosen, isInSight });
    const { k } = answer.request;
    const { tag, is } = tagOf(answer);
    const figure = `${share(answer.node.suppressed, answer.rows)} of ${share(answer.limit, answer.rows)} allowed`;
    this.bar.tell(this.verdict.sentence.textContent, { k, tag, is, figure });
    this.root.dataset.move = answer.id;
    this.phoneSummary = { tag, figure };
    this.freshness.answered(last);
    if (this.freshness.reason !== null) this.outdate(this.freshness.reason);
    this.showTray(isChosen);
    clearTimeout(this.idle);
    if (last) this.idle = setTimeout(() => this.rest(), RESTED);
  }

  /** Mark the visible answer as not that of the last move, with the reason; null removes the mark. */
  outdate(words) {
    if (!this.answer) return;
    this.root.classList.toggle("outdated", words !== null);
    this.verdict.outdate(words);
    this.bar.outdate(words, this.phoneSummary);
    this.showTray(this.chosen.is);
  }

  showTray(isChosen) {
    const { answer, freshness } = this;
    this.tray.show({ outdated: freshness.reason, canPublish: answer.node.suppressed <= answer.limit, isChosen });
  }

  /** Update the parts that wait until moves rest: the frontier of a large lattice, and the panel below. */
  rest() {
    this.offers.rest().catch((error) => error.name !== "AbortError" && toastError(error));
    if (!this.askFrontier() && !this.below.hidden) this.more.changed();
  }

  // --- looking at nodes ---

  look(place) {
    this.lookAt(this.lattice.nodes.byName(place));
  }

  /** Request a node by its levels; null for the answer's own. */
  lookAt(levels) {
    this.selected = levels;
    this.ask();
    const node = levels && this.facts.attributes.map(({ name }) => levels[name]).join(".");
    this.context.updateLocation({ node });
  }

  async saveRequest() {
    try {
      await post("/api/negotiate/spec", { request: this.request.body() });
      this.context.toast("The command line now uses the same request.", { tone: "good" });
    } catch (error) {
      toastError(error);
    }
  }
}
