// A hierarchy as ARX CSV: typed, pasted or imported, checked while the user types.

import { errorText, query } from "../api.js";
import { button, notice } from "../components/parts.js";
import { clear, h, uid } from "../dom.js";
import { draftOf, keepDraft } from "../drafts.js";
import { count, number } from "../format.js";
import { latest } from "../turns.js";
import { figures, pathsOf } from "./levels.js";

const PAUSE = 300;

/** The text of a hierarchy. `onSave(text)` is called to use it, `onExport()` to download it. */
export function textEditor({ attribute, answer, signal, onSave, onExport }) {
  const id = uid("text");
  const draft = `hierarchy.${attribute}`;
  const saved = textOf(answer);
  const file = uid("import");
  let pending = 0;
  const turn = latest();
  const area = h("textarea", {
    class: "input mono csv",
    id,
    rows: "14",
    spellcheck: "false",
    wrap: "off",
    value: draftOf(draft) ?? saved,
    aria: { describedby: `${id}-hint` },
  });
  const result = h("div", { class: "stack tight", role: "status" });
  const use = button("Use this hierarchy", {
    tone: "primary",
    disabled: true,
    onClick: () => {
      keepDraft(draft, null);
      onSave(area.value);
    },
  });
  const unused = h(
    "div",
    { class: "row small muted" },
    "This text is not used yet.",
    button("Back to the hierarchy in use", {
      small: true,
      onClick: () => {
        area.value = saved;
        typed();
      },
    }),
  );
  function typed() {
    unused.hidden = area.value === saved;
    keepDraft(draft, unused.hidden ? null : area.value);
    clearTimeout(pending);
    pending = setTimeout(look, PAUSE);
  }
  const chooser = h("input", {
    type: "file",
    id: file,
    class: "visually-hidden",
    accept: ".csv,.txt",
    on: {
      change: async () => {
        const [chosen] = chooser.files;
        if (!chosen) return;
        area.value = await chosen.text();
        chooser.value = "";
        typed();
      },
    },
  });
  area.addEventListener("input", typed);
  unused.hidden = area.value === saved;

  async function look() {
    const isLast = turn();
    try {
      const found = await query("/api/hierarchies/check", { attribute, text: area.value }, { signal });
      if (!isLast()) return;
      use.disabled = found.problems.length > 0;
      if (found.problems.length === 0) area.removeAttribute("aria-invalid");
      else area.setAttribute("aria-invalid", "true");
      clear(
        result,
        found.problems.length === 0
          ? [
              notice(
                `Valid: ${count(found.figures[0]?.values ?? 0, "leaf", "leaves")}, ` +
                  `${count(found.height, "level")} above them; every value of the data is covered.`,
                "good",
              ),
              figures(found),
            ]
          : [
              h(
                "p",
                { class: "field-error" },
                `${count(found.problems.length, "fault")}${found.problems.length === 50 ? " or more" : ""}`,
              ),
              h(
                "ol",
                { class: "faults" },
                found.problems.map((problem) =>
                  h(
                    "li",
                    {},
                    problem.row !== null &&
                      h(
                        "button",
                        { class: "button small quiet", type: "button", on: { click: () => toLine(area, problem.row) } },
                        `row ${number(problem.row + 1)}`,
                      ),
                    h("span", {}, `${problem.message}. ${problem.advice}`),
                  ),
                ),
              ),
            ],
      );
    } catch (error) {
      if (error.name !== "AbortError" && isLast()) clear(result, notice(errorText(error), "bad"));
    }
  }

  look();
  return h(
    "div",
    { class: "stack" },
    h(
      "div",
      { class: "row between" },
      h("label", { for: id, class: "strong" }, "One line per value: value;level 1;…;*"),
      h(
        "div",
        { class: "row" },
        chooser,
        h("label", { class: "button", for: file }, "Import a file"),
        button("Export", { icon: "download", onClick: onExport }),
      ),
    ),
    area,
    unused,
    h(
      "p",
      { class: "hint small muted", id: `${id}-hint` },
      "ARX format. Put cells with ; , or quotes in double quotes. The text is saved when you use it.",
    ),
    result,
    h("div", { class: "row" }, use),
  );
}

function textOf({ levels }) {
  if (levels.length === 0) return "";
  return pathsOf(levels)
    .map((cells) => cells.map(cell).join(";"))
    .join("\n");
}

function cell(value) {
  return /[;,"\r\n]/.test(value) || value.trim() !== value ? `"${value.replaceAll('"', '""')}"` : value;
}

function toLine(area, line) {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line]?.length ?? 0));
  area.scrollTop = Math.max(0, line - 3) * parseFloat(getComputedStyle(area).lineHeight);
}
