// Which sheet of a workbook is the table: asked before it is opened, and changed afterwards.

import { field, select } from "../components/field.js";
import { form } from "../components/form.js";
import { panel } from "../components/parts.js";
import { h, uid } from "../dom.js";

/** The sheets to choose from; `onOpen(sheet)` once one is chosen. */
export function chooseSheet(path, sheets, onOpen) {
  const name = uid("sheet");
  const radios = sheets.map((sheet, place) => h("input", { type: "radio", name, value: sheet, checked: place === 0 }));
  return panel(
    { title: `Which sheet of ${path.split("/").at(-1)} is the table?` },
    form(
      { send: "Open this sheet", onSend: () => onOpen(radios.find((each) => each.checked).value) },
      h(
        "fieldset",
        { class: "field" },
        h("legend", {}, `${sheets.length} sheets hold cells`),
        radios.map((radio, place) => h("label", { class: "check" }, radio, h("span", {}, sheets[place]))),
      ),
    ),
  );
}

/** The sheet that is open; another one begins a new spec. */
export function sheetField(sheets, chosen, onOpen) {
  const control = select(chosen === null ? ["", ...sheets] : sheets, {
    value: chosen ?? "",
    on: { change: () => onOpen(control.value) },
  });
  return field({
    label: "Sheet",
    control,
    name: "table",
    hint: "Another sheet is another table, with a new spec; what you have now is kept among the versions.",
  });
}
