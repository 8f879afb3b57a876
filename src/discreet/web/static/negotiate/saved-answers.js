// Answers saved by name during negotiation, each a link to its node, and a link to their comparison.

import { get, post } from "../api.js";
import { promptDialog } from "../components/dialog.js";
import { announce, toastError } from "../components/status.js";
import { clear, h } from "../dom.js";
import { number, roughShare } from "../format.js";

/**
 * The saved answers, "Save this answer" and "Compare". `current()` returns `{request, levels}` of the visible node,
 * null if it cannot be saved, `onBack({request, levels})` shows a saved one again. `.element` is to be placed on the
 * page.
 */
export function savedAnswers({ current, onBack, signal }) {
  const list = h("ul", { class: "saved-list" });
  const compare = h("a", { class: "text-link", href: "#/compare" }, "Compare");
  const save = h("button", { class: "as-link", type: "button", on: { click: keep } }, "Save this answer");
  const element = h("div", { class: "saved-answers", role: "group", aria: { label: "Saved answers" } });
  element.append(h("b", { class: "saved-title" }, "Saved"), list, save, compare);
  let saved = [];

  async function refresh() {
    try {
      draw(await get("/api/compare/saved", { signal }));
    } catch (error) {
      toastError(error);
    }
  }

  function draw(answers) {
    saved = answers;
    clear(
      list,
      answers.map((answer) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              class: "saved-answer",
              type: "button",
              title: `${answer.name}: ${figuresOf(answer)}. ${answer.asked}`,
              on: { click: () => onBack(answer) },
            },
            h("span", { class: "dot", aria: { hidden: true } }),
            h("b", {}, answer.name),
            h("span", { class: "muted small", title: answer.asked }, figuresOf(answer)),
          ),
        ),
      ),
    );
    list.hidden = answers.length === 0;
    compare.textContent = answers.length > 1 ? `Compare ${answers.length}` : "Compare";
  }

  async function keep() {
    const found = current();
    if (found === null) return;
    const { request, levels } = found;
    const taken = saved.map((each) => each.name);
    const name = await promptDialog({
      title: "Save this answer",
      label: "Name",
      value: freeName(taken),
      hint: "An answer of the same name is replaced.",
      check: (text) => (text.trim() === "" ? "Enter a name." : null),
    });
    if (name === null) return;
    try {
      draw(await post("/api/compare/saved", { name, request, levels }, { signal }));
      announce(`${name} is saved.`);
    } catch (error) {
      toastError(error);
    }
    save.focus();
  }

  draw([]);
  refresh();
  return { element, refresh };
}

function freeName(taken) {
  let number = taken.length + 1;
  while (taken.includes(`Answer ${number}`)) number += 1;
  return `Answer ${number}`;
}

/** Describe an answer in a few words; by its request if its figures were not stored. */
function figuresOf({ stale, suppressed, detail, asked }) {
  if (stale) return "out of date";
  if (suppressed === null || detail === null) return asked;
  return `${number(suppressed)} suppressed, ${roughShare(detail)} detail`;
}
