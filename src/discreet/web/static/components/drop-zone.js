// A zone where a file is dropped, or chosen with a button.

import { h, uid } from "../dom.js";
import { toast } from "./status.js";

/** `words` describe the accepted files; `onFile(file)` gets one file, the first of several. */
export function dropZone({ accept, onFile, tone = "", id = uid("file") }, ...words) {
  const take = ([file, ...others]) => {
    if (others.length > 0) toast("One file at a time: the first one is taken.");
    if (file) onFile(file);
  };
  const chooser = h("input", {
    type: "file",
    id,
    class: "visually-hidden",
    accept,
    on: { change: () => take(chooser.files) },
  });
  const zone = h(
    "div",
    {
      class: "drop",
      on: {
        dragover: (event) => {
          event.preventDefault();
          zone.classList.add("over");
        },
        dragleave: () => zone.classList.remove("over"),
        drop: (event) => {
          event.preventDefault();
          zone.classList.remove("over");
          take(event.dataTransfer.files);
        },
      },
    },
    words,
    chooser,
    h("label", { class: `button ${tone}`.trim(), for: id }, "Choose a file"),
  );
  return zone;
}
