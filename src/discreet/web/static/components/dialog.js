// Native dialogs: focus stays inside, Escape closes, focus returns to where it was.

import { h, uid } from "../dom.js";
import { button } from "./parts.js";
import { field, input } from "./field.js";

/** Show a dialog; resolves with the value of the action, null if it was closed. */
export function openDialog({ title, body, actions, onOpen = null, check = null, kind = "" }) {
  return new Promise((resolve) => {
    const id = uid("dialog");
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", { id }, title),
      body,
      h(
        "div",
        { class: "actions" },
        actions.map((action) => {
          const made = button(action.label, { tone: action.tone ?? "", type: action.submits ? "submit" : "button" });
          if (!action.submits) made.addEventListener("click", () => dialog.close(JSON.stringify(action.value ?? null)));
          return made;
        }),
      ),
    );
    const dialog = h("dialog", { class: `dialog ${kind}`.trim(), aria: { labelledby: id } }, form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const main = actions.find((action) => action.submits);
      if (check && !(await check())) return;
      dialog.close(JSON.stringify(main?.value ?? null));
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close("null");
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(JSON.parse(dialog.returnValue || "null"));
    });
    document.body.append(dialog);
    dialog.showModal();
    onOpen?.(dialog);
  });
}

/** Ask a question with yes and no. */
export async function confirmDialog({ title, text, action, tone = "primary" }) {
  const answer = await openDialog({
    title,
    body: h("p", {}, text),
    actions: [
      { label: "Cancel", value: false },
      { label: action, value: true, tone, submits: true },
    ],
  });
  return answer === true;
}

/** Ask for one text; `check(value)` returns an error message, or null. */
export async function promptDialog({ title, label, value = "", hint = null, action = "Save", check = null }) {
  const control = input({ value, required: true });
  const nameField = field({ label, hint, control });
  const verify = () => {
    const wrong = control.value === "" ? "Enter at least one character." : check?.(control.value);
    nameField.setError(wrong ?? null);
    return !wrong;
  };
  const answer = await openDialog({
    title,
    body: nameField,
    check: verify,
    onOpen: () => control.select(),
    actions: [
      { label: "Cancel", value: null },
      { label: action, value: true, tone: "primary", submits: true },
    ],
  });
  return answer === true ? control.value : null;
}
