// The node chosen for the release: only the answer of the last move, once its request is saved.

import { put, remove } from "../api.js";
import { toastError } from "../components/status.js";

/** `sight()` returns the visible answer, `freshness` its state; `settle()` saves its request; `onChange(isChosen)`. */
export class Chosen {
  constructor({ context, facts, freshness, sight, settle, onChange }) {
    Object.assign(this, { context, facts, freshness, sight, settle, onChange });
    this.choice = null;
  }

  /** True if the visible node is the chosen one for the current request. */
  get is() {
    const { choice } = this;
    const answer = this.sight();
    return (
      choice !== null &&
      choice !== undefined &&
      !choice.stale &&
      this.facts.attributes.every(({ name }) => choice.levels[name] === answer.node.levels[name]) &&
      JSON.stringify(choice.request) === JSON.stringify(answer.request)
    );
  }

  /** Return true if the visible answer is that of the last move; else show the reason. */
  isOfLastMove() {
    if (this.freshness.isCurrent) return true;
    this.context.announce(`${this.freshness.why() ?? "The answer to your last move is pending"}.`);
    return false;
  }

  async choose() {
    const { context } = this;
    if (!this.isOfLastMove()) return false;
    const { request, node } = this.sight();
    if (!(await this.settle())) return false;
    try {
      this.choice = await put("/api/negotiate/choice", { request, levels: node.levels });
      this.onChange(true);
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

  async unchoose() {
    try {
      await remove("/api/negotiate/choice");
      this.choice = null;
      this.onChange(false);
      this.context.state.refresh().catch(() => {});
    } catch (error) {
      toastError(error);
    }
  }

  /** Publish: pass the request and the node to the form of Publish. */
  async publish() {
    const { node, limit } = this.sight();
    if (!this.isOfLastMove()) return;
    if (node.suppressed > limit) {
      this.context.announce("The node suppresses more rows than you allow.");
      return;
    }
    if (this.is || (await this.choose())) this.context.go("publish");
  }
}
