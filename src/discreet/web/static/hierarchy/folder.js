// Hierarchies from existing files: a folder, or several files, matched with the columns by name and value.

import { errorText, put, query } from "../api.js";
import { checkbox } from "../components/field.js";
import { button, notice } from "../components/parts.js";
import { clear, h, uid } from "../dom.js";
import { count } from "../format.js";

const MOST_BYTES = 3_500_000;

/** A zone for dropped or selected files; `onUsed(words)` after some of them became hierarchies. */
export function hierarchyFolder({ signal, onUsed }) {
  const result = h("div", { class: "stack tight", role: "status" });
  const element = h(
    "details",
    {
      class: "card files",
      on: {
        dragover: (event) => {
          event.preventDefault();
          element.classList.add("over");
        },
        dragleave: () => element.classList.remove("over"),
        drop: (event) => {
          event.preventDefault();
          element.classList.remove("over");
          element.open = true;
          take(dropped(event.dataTransfer));
        },
      },
    },
    h("summary", {}, "Import hierarchies from files"),
    h(
      "div",
      { class: "stack tight" },
      h(
        "p",
        { class: "small muted" },
        "Drop a folder or several files here: one line per value, value;level 1;…;*. Each is matched with a column " +
          "by its name, else by its values. You confirm the matches before they are used.",
      ),
      h(
        "div",
        { class: "row" },
        chooser("Choose a folder", { webkitdirectory: true }),
        chooser("Choose files", { multiple: true }),
      ),
      result,
    ),
  );

  function chooser(words, attributes) {
    const id = uid("files");
    const control = h("input", {
      type: "file",
      id,
      class: "visually-hidden",
      ...attributes,
      on: {
        change: () => {
          take(Promise.resolve([...control.files]));
          control.value = "";
        },
      },
    });
    return [control, h("label", { class: "button small", for: id }, words)];
  }

  async function take(coming) {
    try {
      clear(result, h("p", { class: "small muted" }, "Reading the files …"));
      const files = await textsOf(await coming);
      const { matches } = await query("/api/hierarchies/files", { files }, { signal });
      clear(result, matched(files, matches));
      result.querySelector("input, button")?.focus();
    } catch (error) {
      if (error.name !== "AbortError") clear(result, notice(errorText(error), "bad"));
    }
  }

  function matched(files, matches) {
    const chosen = matches.flatMap((match) => match.columns.map((column) => ({ column, match, on: true })));
    const left = matches.filter((match) => match.columns.length === 0);
    const use = async () => {
      const wanted = chosen.filter((each) => each.on);
      try {
        await put("/api/hierarchies/files", {
          files: files.filter((file) => wanted.some((each) => each.match.name === file.name)),
          use: Object.fromEntries(wanted.map((each) => [each.column, each.match.name])),
        });
        clear(result);
        element.open = false;
        await onUsed(`${count(wanted.length, "hierarchy", "hierarchies")} imported from files`);
      } catch (error) {
        clear(result, notice(errorText(error), "bad"));
      }
    };
    const send = button("Use them", { tone: "primary", onClick: use });
    const box = (each) =>
      checkbox([h("b", {}, each.column), ` from ${each.match.name}, ${each.match.reason}`], {
        checked: true,
        on: {
          change: (event) => {
            each.on = event.target.checked;
            send.disabled = chosen.every((other) => !other.on);
          },
        },
      });
    return [
      chosen.length > 0
        ? h("p", {}, `${count(chosen.length, "column")} ${chosen.length === 1 ? "has" : "have"} a file that fits:`)
        : notice("None of the files fits a column.", "warning"),
      h(
        "ul",
        { class: "plain-list" },
        chosen.map((each) => h("li", {}, box(each))),
      ),
      chosen.length > 0 && h("div", { class: "row" }, send),
      left.length > 0 &&
        h(
          "details",
          { open: chosen.length === 0 },
          h("summary", { class: "small" }, `${count(left.length, "file")} without a match`),
          h(
            "ul",
            { class: "small" },
            left.map((match) => h("li", {}, h("b", {}, match.name), `: ${match.reason}`)),
          ),
        ),
    ];
  }
  return element;
}

/** Return the dropped files, including those in folders. */
async function dropped(carried) {
  const entries = [...carried.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return [...carried.files];
  return (await Promise.all(entries.map(filesIn))).flat();
}

async function filesIn(entry) {
  if (entry.isFile) return [await new Promise((found, failed) => entry.file(found, failed))];
  const reader = entry.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((found, failed) => reader.readEntries(found, failed));
    if (some.length === 0) break;
    all.push(...some);
  }
  return (await Promise.all(all.map(filesIn))).flat();
}

async function textsOf(files) {
  const tables = files.filter((file) => /\.(csv|txt)$/i.test(file.name) && !file.name.startsWith("."));
  const size = tables.reduce((sum, file) => sum + file.size, 0);
  if (tables.length === 0) throw new Error("No file among them ends in .csv.");
  if (size > MOST_BYTES) throw new Error("The files are larger than 3.5 MB together: import them in parts.");
  return Promise.all(
    tables.map(async (file) => ({ name: file.name.replace(/\.txt$/i, ".csv"), text: read(await file.arrayBuffer()) })),
  );
}

function read(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
