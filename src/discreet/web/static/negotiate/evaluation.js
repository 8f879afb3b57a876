// Before a negotiation: the lattice is counted and evaluated, or missing prerequisites are shown.

import { errorText, query } from "../api.js";
import { watchJob } from "../components/job.js";
import { button, empty, linkButton, screenHead } from "../components/parts.js";
import { clear, h } from "../dom.js";
import { outline } from "../lattice/outline.js";

const STAGE = "Evaluating the lattice";

/** Count and evaluate in a job, with its progress, until it is done; again if it was cancelled and restarted. */
export async function evaluate(root, { signal }, { request, heights }) {
  const start = () => query("/api/negotiate/evaluation", { request }, { signal });
  for (;;) {
    const place = h("div", {});
    const picture = outline(heights);
    clear(
      root,
      screenHead({
        title: "Negotiate",
        lead: "Every node of the lattice is counted once; after that each answer is a look-up.",
      }),
      place,
      picture?.element,
    );
    const onTell = ({ done, total, stage }) => stage === STAGE && total && picture?.fill(done / total);
    try {
      await watchJob(place, STAGE, start, { signal, framed: true, onTell });
      return;
    } catch (error) {
      if (signal.aborted || error.name !== "AbortError") throw error;
    }
    await wantedAgain(root);
  }
}

function wantedAgain(root) {
  return new Promise((resolve) =>
    clear(
      root,
      screenHead({ title: "Negotiate" }),
      empty({
        title: "The evaluation was cancelled",
        text: "You can evaluate the lattice at any time.",
        actions: [button("Evaluate the lattice", { tone: "primary", onClick: resolve })],
      }),
    ),
  );
}

/** Show the next action if there is nothing to negotiate. */
export function missingPrerequisites(error) {
  const nothing = error.kind === "not-found";
  return empty({
    title: nothing ? "There is no table yet" : "The lattice cannot be evaluated yet",
    text: nothing
      ? "Negotiation needs a table, the roles of its columns, and a hierarchy for each quasi-identifier. Load a " +
        "table first."
      : errorText(error),
    actions: [
      linkButton(nothing ? "Load a table" : "Go to Columns", nothing ? "#/load" : "#/columns", { tone: "primary" }),
    ],
  });
}
