// Jobs of the server on a page: progress, a way to cancel, and the result.

import { cancel, errorText, follow } from "../api.js";
import { clear } from "../dom.js";
import { notice, panel } from "./parts.js";
import { progress } from "./progress.js";

/**
 * Start a job and show its progress in `place`; resolves with its result, throws its error. `start()` returns `{job}`;
 * null means that there is nothing to do. `framed` puts a panel around the bar; `onTell(job)` also gets the progress.
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
 * Run a job like `watchJob`, and show an error with `onError(error)`, else in `place`. Null if it failed or was
 * cancelled.
 */
export async function runJob(place, title, start, { signal, onError = null } = {}) {
  try {
    return await watchJob(place, title, start, { signal });
  } catch (error) {
    if (signal?.aborted) return null;
    if (error.name === "AbortError") clear(place, notice("Cancelled. No output was left.", "plain"));
    else if (onError) onError(error);
    else clear(place, notice(errorText(error), "bad"));
    return null;
  }
}
