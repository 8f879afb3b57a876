// The sheet of a workbook that is the table: selected before it is opened, and changed afterwards.

import { field, select } from "../components/field.js";
import { form } from "../components/form.js";
import { panel } from "../components/parts.js";
import { h, uid } from "../dom.js";

const isBook = (path) => path.toLowerCase().endsWith(".xlsx");

/** The sheets to select from; `onOpen(sheet)` once one is selected. */
export function chooseSheet(path, sheets, onOpen) {
  const name = uid("sheet");
  const file = path.split("/").at(-1);
  const radios = sheets.map((sheet, place) => h("input", { type: "radio", name, value: sheet, checked: place === 0 }));
  return panel(
    { title: isBook(path) ? `Which sheet of ${file} is the table?` : `Which table of ${file} is to be read?` },
    form(
      {
        send: isBook(path) ? "Open this sheet" : "Open this table",
        onSend: () => onOpen(radios.find((each) => each.checked).value),
      },
      h(
        "fieldset",
        { class: "field" },
        h("legend", {}, isBook(path) ? `${sheets.length} sheets contain cells` : `${sheets.length} tables and views`),
        radios.map((radio, place) => h("label", { class: "check" }, radio, h("span", {}, sheets[place]))),
      ),
    ),
  );
}

/** The open sheet; another one starts a new spec. */
export function sheetField(sheets, chosen, onOpen) {
  const control = select(chosen === null ? ["", ...sheets] : sheets, {
    value: chosen ?? "",
    on: { change: () => onOpen(control.value) },
  });
  return field({
    label: "Sheet or table",
    control,
    name: "table",
    hint: "Another one opens as a new table with a new spec; the current state is kept in the versions.",
  });
}
