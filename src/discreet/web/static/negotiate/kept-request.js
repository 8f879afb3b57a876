// The request as saved in the workspace: a request is sent until the server confirms it, and is a draft until then, so
// that a reload loses nothing.

import { post, shownTag } from "../api.js";
import { draftOf, keepDraft } from "../drafts.js";

const DRAFT = "request";

/** `of` is the table of the drafts; `onKept()` after each confirmation, `onRefused(error)` after a refusal. */
export class KeptRequest {
  constructor(of, { onKept, onRefused }) {
    Object.assign(this, { of, onKept, onRefused });
    this.kept = null; // the request confirmed by the server
    this.wanted = null; // the request to save
    this.sent = null; // the request being sent
    this.running = null;
  }

  /**
   * Begin with the workspace's request; return the one to show: this tab's draft if the request has not changed since,
   * `{body, isDraft, lost}`. `lost` is a draft that another tab's request has overtaken.
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

  /** Store a move in this tab until it is saved. */
  draft(body) {
    keepDraft(DRAFT, { of: this.of, body, base: shownTag("request"), sent: this.sent });
  }

  isKept(body) {
    return this.running === null && same(body, this.kept);
  }

  /** Save a request; resolves with true if the server has confirmed the last one. */
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

  /** Set the request after another step, such as undo. */
  take(body) {
    this.kept = body;
    this.wanted = body;
    keepDraft(DRAFT, null);
  }
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
