// Reading options of a table: the format of its file, its NULL texts, and persons.

import { chips } from "../components/chips.js";
import { checkbox, field, input, segmented, select } from "../components/field.js";
import { formError } from "../components/form.js";
import { notice, panel } from "../components/parts.js";
import { h } from "../dom.js";
import { cellFields } from "./cells.js";
import { sheetField } from "./sheets.js";

const ENCODINGS = ["utf-8", "utf-16", "latin-1", "windows-1252", "iso-8859-15", "mac-roman", "cp437"];
const DELIMITERS = [
  ["", "found in the header"],
  [",", "comma  ,"],
  [";", "semicolon  ;"],
  ["\t", "tab"],
  ["|", "bar  |"],
];
const DELIMITER_NAMES = { "\t": "tab", ",": "comma", ";": "semicolon", "|": "bar" };
const FORMATS = [
  ["", "by the file's ending"],
  ["csv", "CSV"],
  ["tsv", "TSV"],
  ["parquet", "Parquet"],
  ["jsonl", "JSON lines"],
  ["xlsx", "Spreadsheet (.xlsx)"],
  ["sqlite", "SQLite database"],
];
const BINARY = ["sqlite", "sav", "zsav", "dta", "sas7bdat", "xpt"];
const QUOTES = [
  ['"', 'double  "'],
  ["'", "single  '"],
  ["", "none"],
];

/**
 * The options of the file's format; `onChange(changes, area)` with the area that shows errors. `format` contains
 * `save(column, form, area)` for a column's cell format, the column `chosen` last, and for a workbook its `sheets` and
 * a function that opens another one.
 */
export function fileForm(source, view, onChange, format) {
  const form = view?.form ?? null;
  const inferred = form?.reasons ?? {};
  const kind = form?.format ?? source.format;
  const isText = kind === "csv" || kind === "tsv";
  const choice = (name, label, options, hint = null, saved = (value) => value || null) => {
    const control = select(options, {
      value: source[name] ?? "",
      on: { change: () => onChange({ [name]: saved(control.value) }, area) },
    });
    return field({ label, control, name, hint });
  };
  const encoding = input({
    value: source.encoding,
    list: "encodings",
    on: { change: () => onChange({ encoding: encoding.value.trim() || null }, area) },
  });
  const area = h(
    "div",
    { class: "form" },
    format.sheets.length > 1 && sheetField(format.sheets, source.table, format.openSheet),
    choice("format", "Format", FORMATS, form ? `Read as ${kind}: ${inferred.format}.` : null),
    kind !== "parquet" &&
      kind !== "xlsx" &&
      !BINARY.includes(kind) &&
      field({
        label: "Encoding",
        control: encoding,
        name: "encoding",
        hint: inferred.encoding ? `Seems ${form.encoding}: ${inferred.encoding}.` : null,
      }),
    isText &&
      choice(
        "delimiter",
        "Delimiter",
        DELIMITERS,
        form?.delimiter ? `Found ${DELIMITER_NAMES[form.delimiter] ?? form.delimiter}.` : null,
      ),
    isText && choice("quote", "Quote", QUOTES, null, (value) => value),
    ...cellFields(source, view, (changes) => onChange(changes, area), format),
    h(
      "datalist",
      { id: "encodings" },
      ENCODINGS.map((each) => h("option", { value: each })),
    ),
    formError(),
  );
  return panel({ title: "How the file is read", note: "Inferred; correct it if it is wrong" }, area);
}

/** The NULL texts and the NULL policy; `texts` are proposed. */
export function nullPolicy(source, { texts, inDatabase }, onChange) {
  const area = h(
    "div",
    { class: "form" },
    chips({
      label: "Cells read as NULL",
      values: source.null_values,
      suggestions: texts,
      placeholder: "type a text, then Enter",
      hint: inDatabase ? null : "An empty unquoted cell is NULL in any case.",
      onChange: (values) => onChange({ null_values: values }, area),
    }),
    segmented({
      label: "NULL is",
      value: source.null_policy,
      options: [
        ["value", "a separate value"],
        ["drop", "a reason to drop the row"],
      ],
      onChange: (policy) => onChange({ null_policy: policy }, area),
    }),
    formError(),
  );
  return panel({ title: "NULL policy" }, area);
}

/** The column that identifies persons, and the policy for columns that the spec does not list. */
export function peopleForm(source, view, onChange) {
  const names = view?.columns.map((column) => column.name) ?? [];
  const subject = select([["", "none: one row per person"], ...names], {
    value: source.subject ?? "",
    on: { change: () => onChange({ subject: subject.value || null }, area) },
  });
  const people = checkbox("Each row is a different person, although values of an identifier repeat", {
    checked: source.rows_are_people,
    on: { change: (event) => onChange({ rows_are_people: event.target.checked }, area) },
  });
  const unlisted = checkbox("Publish columns that are not in the spec unchanged", {
    checked: source.unlisted_columns === "insensitive",
    on: { change: (event) => onChange({ unlisted_columns: event.target.checked ? "insensitive" : "drop" }, area) },
  });
  const area = h(
    "div",
    { class: "form" },
    field({
      label: "Subject",
      control: subject,
      name: "subject",
      hint: "The column that identifies a person with several rows. Then k counts people, not rows.",
    }),
    !source.subject && people,
    unlisted,
    source.unlisted_columns === "insensitive" &&
      notice(
        "Unlisted columns will be published unchanged. Make sure that none of them identifies a person.",
        "warning",
      ),
    formError(),
  );
  return panel({ title: "People and columns" }, area);
}
