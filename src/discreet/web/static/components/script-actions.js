// "Copy the command" and "Copy as Python": the shown result as a script made by the server, in the clipboard.

import { errorText, query } from "../api.js";
import { h } from "../dom.js";
import { openDialog } from "./dialog.js";
import { announce } from "./status.js";

const LASTS = 2500; // milliseconds for which the action shows that it is done

/**
 * Both actions; `what` is request, release, query, attack or comparison, `body()` the current inputs. `onError(error)`
 * shows an error; without it a dialog does.
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
      if (await toClipboard(text)) showCopied("Copied");
      else await shown(label, null, text);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (onError) onError(error);
      else await shown(label, errorText(error));
    }
  }

  function showCopied(done) {
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
    return false; // the browser does not let a page write to the clipboard
  }
}

/** Show a text that must be copied manually, or the reason why there is none. */
function shown(title, words, text = null) {
  const area = text !== null && h("textarea", { class: "input mono", rows: 8, readOnly: true, value: text });
  return openDialog({
    title,
    body: h("div", { class: "stack tight" }, words && h("p", {}, words), area),
    actions: [{ label: "Close", value: null }],
    onOpen: () => area && area.select(),
  });
}
