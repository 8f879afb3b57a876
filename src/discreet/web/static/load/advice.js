// Warnings of the proposal, each with a button that applies its advice.

import { get, put } from "../api.js";
import { button, notice } from "../components/parts.js";
import { toastError } from "../components/status.js";

/** The warnings as notices; `onDone(words)` after a button applied its advice. */
export function adviceNotices(warnings, onDone) {
  return warnings.map(({ text, act }) =>
    notice(
      act === null ? text : [text, " ", button(act.label, { small: true, onClick: () => follow(act, onDone) })],
      "warning",
    ),
  );
}

async function follow(act, onDone) {
  try {
    const { source } = await get("/api/load");
    const nulls = [...new Set([...source.null_values, ...act.null_values])];
    await put("/api/load/source", { ...source, null_values: nulls, subject: act.subject ?? source.subject });
    await onDone(act.label);
  } catch (error) {
    toastError(error);
  }
}
