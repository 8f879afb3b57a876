// The workspace's summary, shared by all screens, refreshed after each change.

import { get } from "./api.js";

const listeners = new Set();

export const state = {
  summary: null,

  /** Request the summary again and notify the listeners. */
  async refresh() {
    this.summary = await get("/api/load/summary");
    for (const listener of [...listeners]) listener(this.summary);
    return this.summary;
  },

  /** Add a listener for new summaries; return a function that removes it. */
  subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
