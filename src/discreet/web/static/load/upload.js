// An upload to the workspace, with its progress, and a question if a file of its name exists.

import { upload } from "../api.js";
import { confirmDialog } from "../components/dialog.js";
import { panel } from "../components/parts.js";
import { progress } from "../components/progress.js";
import { clear } from "../dom.js";
import { bytes } from "../format.js";

/**
 * Send a file and show its progress in `place`; return its path in the workspace, null if it must not replace another.
 */
export async function sendFile(file, place, { signal }) {
  const control = new AbortController();
  signal.addEventListener("abort", () => control.abort());
  const bar = progress(`Uploading ${file.name}`, { onCancel: () => control.abort() });
  clear(place, panel({ label: "Upload" }, bar.element));
  const send = (replace) =>
    upload(file, (sent, total) => bar.set(sent, total, `${bytes(sent)} of ${bytes(total)}`), {
      signal: control.signal,
      replace,
    });
  try {
    return (await send(false)).path;
  } catch (error) {
    if (error.kind !== "conflict") throw error;
  }
  const agreed = await confirmDialog({
    title: `Replace ${file.name}?`,
    text: "A file of that name was uploaded before. Releases made from it are unchanged.",
    action: "Replace it",
  });
  return agreed ? (await send(true)).path : null;
}
