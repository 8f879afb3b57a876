// Profiling of columns, for which the screens Columns and Hierarchies wait at first.

import { get } from "./api.js";
import { watchJob } from "./components/job.js";
import { h } from "./dom.js";

/** Request a path until it no longer answers with a job, whose progress is shown at the end of `root`. */
export async function afterProfile(path, root, { signal, state }) {
  const place = h("div", {});
  root.append(place);
  for (;;) {
    const answer = await get(path, { signal });
    if (!answer.job) return answer;
    await watchJob(place, "Profiling the columns", () => answer, { signal, framed: true });
    await state.refresh();
  }
}
