// "Copy the command" and "Copy as Python": what is in sight as a script, made by the server, put on the clipboard.

import { errorText, query } from "../api.js";
import { h } from "../dom.js";
import { openDialog } from "./dialog.js";
import { announce } from "./status.js";

const LASTS = 2500; // milliseconds in which the action says that it is done

/**
 * Both actions; `what` is request, release, query, attack or comparison, `body()` what is asked now. `onError(error)`
 * tells what is wrong with that, else it stands in a dialog.
 */
export function scriptActions(what, body, { onError = null, signal = null } = {}) {
  const ask = () => query(`/api/scripts/${what}`, body(), { signal });
  return [
    action("Copy the command", ask, onError, (found) => found.command),
    action("Copy as Python", ask, onError, (found) => found.python),
  ];
}

function action(label, ask, onError, textOf) {
  const words = h("span", {}, label);
  const element = h("button", { class: "as-link copy-action", type: "button", on: { click: copy } }, words);
  let resting = 0;

  async function copy() {
    try {
      const found = await ask();
      const text = textOf(found);
      if (text === null) {
        await shown(label, found.advice);
        return;
      }
      if (await toClipboard(text)) said("Copied");
      else await shown(label, null, text);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (onError) onError(error);
      else await shown(label, errorText(error));
    }
  }

  function said(done) {
    clearTimeout(resting);
    words.textContent = done;
    announce(`${label}: ${done}`);
    resting = setTimeout(() => {
      words.textContent = label;
    }, LASTS);
  }
  return element;
}

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // a browser that does not let a page write there
  }
}

/** What cannot be copied, or must be copied by hand. */
function shown(title, words, text = null) {
  const area = text !== null && h("textarea", { class: "input mono", rows: 8, readOnly: true, value: text });
  return openDialog({
    title,
    body: h("div", { class: "stack tight" }, words && h("p", {}, words), area),
    actions: [{ label: "Close", value: null }],
    onOpen: () => area && area.select(),
  });
}
