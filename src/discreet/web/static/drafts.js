// Input that is not sent yet, stored for this tab until it is sent, so that a reload loses nothing.

const KEY = "discreet.draft.";

/** Return the draft of a name, null if there is none. */
export function draftOf(name) {
  try {
    return JSON.parse(sessionStorage.getItem(KEY + name));
  } catch {
    return null;
  }
}

/** Store a draft; null removes it. */
export function keepDraft(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(KEY + name);
    else sessionStorage.setItem(KEY + name, JSON.stringify(value));
  } catch {
    // Without storage the draft lasts as long as the page.
  }
}

/** Fill a form's named controls from its draft, and store further input. */
export function draftForm(name, form) {
  const typed = draftOf(name) ?? {};
  const controls = () => [...form.querySelectorAll("input[name], select[name], textarea[name]")];
  for (const [key, value] of Object.entries(typed)) {
    const control = controls().find((each) => each.name === key && each.type !== "radio" && each.type !== "file");
    if (!control) continue;
    if (control.type === "checkbox") control.checked = value;
    else control.value = value;
    control.dispatchEvent(new Event(control.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
  }
  const keep = ({ target }) => {
    if (!target.name || target.type === "radio" || target.type === "file") return;
    typed[target.name] = target.type === "checkbox" ? target.checked : target.value;
    keepDraft(name, typed);
  };
  form.addEventListener("input", keep);
  form.addEventListener("change", keep);
}
