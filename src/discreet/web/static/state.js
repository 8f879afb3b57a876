// What every screen may know: the workspace's summary. One store, refreshed when something was saved.

import { get } from "./api.js";

const listeners = new Set();

export const state = {
  summary: null,

  /** Ask the server anew; the listeners hear of it. */
  async refresh() {
    this.summary = await get("/api/load/summary");
    for (const listener of [...listeners]) listener(this.summary);
    return this.summary;
  },

  /** Hear of every new summary; returns how to stop. */
  subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
