// The request as the workspace keeps it: what is asked is sent until the server has confirmed it, and kept as a draft
// until then, so that a reload loses nothing.

import { post, shownTag } from "../api.js";
import { draftOf, keepDraft } from "../drafts.js";

const DRAFT = "request";

/** `of` is the table that drafts are of; `onKept()` after each confirmation, `onRefused(error)` where there is none. */
export class KeptRequest {
  constructor(of, { onKept, onRefused }) {
    Object.assign(this, { of, onKept, onRefused });
    this.kept = null; // what the server has confirmed
    this.wanted = null; // what is to be kept
    this.sent = null; // what is under way
    this.running = null;
  }

  /**
   * Begin with the request that the workspace has; returns the one to show: the draft of this tab where nobody changed
   * the request since, `{body, isDraft, lost}`. `lost` is a draft that another tab's request has overtaken.
   */
  begin(body) {
    this.kept = body;
    this.wanted = body;
    const draft = draftOf(DRAFT);
    const isOurs = draft !== null && draft.of === this.of && !same(draft.body, body);
    if (!isOurs) {
      keepDraft(DRAFT, null);
      return { body, isDraft: false, lost: null };
    }
    const isNewest = draft.base === shownTag("request") || same(draft.sent, body);
    if (isNewest) return { body: draft.body, isDraft: true, lost: null };
    keepDraft(DRAFT, null);
    return { body, isDraft: false, lost: draft.body };
  }

  /** Keep a move in this tab, until it is saved. */
  draft(body) {
    keepDraft(DRAFT, { of: this.of, body, base: shownTag("request"), sent: this.sent });
  }

  isKept(body) {
    return this.running === null && same(body, this.kept);
  }

  /** Save a request; resolves with whether the server has confirmed what was wanted last. */
  save(body) {
    this.wanted = body;
    if (this.isKept(body)) {
      keepDraft(DRAFT, null);
      return Promise.resolve(true);
    }
    this.draft(body);
    this.running ??= this.run().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  async run() {
    while (!same(this.wanted, this.kept)) {
      const body = this.wanted;
      this.sent = body;
      try {
        await post("/api/negotiate/requests", { request: body });
        this.kept = body;
      } catch (error) {
        if (!same(this.wanted, body)) continue;
        this.onRefused(error);
        return false;
      } finally {
        this.sent = null;
      }
      this.onKept();
    }
    keepDraft(DRAFT, null);
    return true;
  }

  /** Take what another step has led to, such as undo. */
  take(body) {
    this.kept = body;
    this.wanted = body;
    keepDraft(DRAFT, null);
  }
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
