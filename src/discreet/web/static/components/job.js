// Jobs of the server on a page: how one goes on, a way to stop it, and what comes of it.

import { cancel, errorText, follow } from "../api.js";
import { clear } from "../dom.js";
import { notice, panel } from "./parts.js";
import { progress } from "./progress.js";

/**
 * Start a job and show in `place` how it goes on; resolves with its result, throws what went wrong.
 * `start()` gives `{job}`, where null says that nothing was to be done. `framed` puts a panel around the bar; how the
 * job goes on is told to `onTell(job)`, too.
 */
export async function watchJob(place, title, start, { signal, framed = false, onTell = () => {} } = {}) {
  let job = null;
  const bar = progress(title, { onCancel: () => job && cancel(job).catch(() => {}) });
  const tell = (state) => {
    bar.tell(state);
    onTell(state);
  };
  clear(place, framed ? panel({ label: title }, bar.element) : bar.element);
  try {
    ({ job } = await start());
    return job === null ? null : await follow(job, tell, { signal });
  } finally {
    if (place.contains(bar.element)) clear(place);
  }
}

/**
 * The same, with its failure told: by `onError(error)`, else in `place`. Null where it failed or was stopped.
 */
export async function runJob(place, title, start, { signal, onError = null } = {}) {
  try {
    return await watchJob(place, title, start, { signal });
  } catch (error) {
    if (signal?.aborted) return null;
    if (error.name === "AbortError") clear(place, notice("Cancelled. Nothing was left behind.", "plain"));
    else if (onError) onError(error);
    else clear(place, notice(errorText(error), "bad"));
    return null;
  }
}
