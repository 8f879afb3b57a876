// Downloads of a release whose audit passed: its files, and its report.

import { download, get, post } from "../api.js";
import { h } from "../dom.js";
import { openDialog } from "../components/dialog.js";
import { field, input, select } from "../components/field.js";
import { runJob } from "../components/job.js";
import { button } from "../components/parts.js";
import { toastError } from "../components/status.js";
import { partName, releasePath } from "../release/words.js";

/** Buttons for the files of a release; `work` shows the progress of its report, then `onReport({release, audit})`. */
export function downloads(release, { work, signal, onReport }) {
  const path = releasePath(release);
  const take = async (what) => {
    try {
      await get(path); // shows a failing audit as a message instead of a broken download
      download(`${path}/files/${what}`, release.files[what]);
    } catch (error) {
      toastError(error);
    }
  };
  const taking = (what) =>
    button(partName(what), { icon: "download", title: release.files[what], onClick: () => take(what) });
  const write = async () => {
    const words = await askForWords(release);
    if (words === null) return;
    const made = await runJob(work, "Writing the report", () => post(`${path}/report`, words), { signal });
    if (made !== null) onReport(await get(path, { signal }));
  };
  const { report, ...files } = release.files;
  return [
    Object.keys(files).map(taking),
    report && h("a", { class: "button", href: `${path}/report`, target: "_blank", rel: "noopener" }, "Read the report"),
    report ? taking("report") : button("Write the report…", { onClick: write }),
  ];
}

/** Return the languages of reports as options; the first is that of the spec. */
async function languages() {
  const found = await get("/api/publish/languages");
  return [["", "From the spec, else English"], ...found.map(({ code, name }) => [code, name])];
}

/** Ask for the publisher's texts of the report; null if it is not to be written. */
async function askForWords(release) {
  const optionalField = (label, control, hint = null) => field({ label, hint, optional: true, control });
  const area = (rows) => h("textarea", { class: "input", rows, maxlength: 4000 });
  const fields = {
    title: optionalField("Title", input({ maxlength: 200 })),
    purpose: optionalField("Purpose of the release", area(2)),
    recipient: optionalField("Recipients", area(2)),
    threat_model: optionalField(
      "Threat model",
      area(3),
      "Possible attackers, their knowledge, and controls against them.",
    ),
    language: optionalField("Language", select(await languages())),
  };
  const answer = await openDialog({
    title: `The report of ${release.name}`,
    body: h(
      "div",
      { class: "form" },
      h("p", { class: "muted" }, "Empty fields stay blank in the report, to be filled in by hand."),
      Object.values(fields),
    ),
    actions: [
      { label: "Cancel", value: false },
      { label: "Write the report", value: true, tone: "primary", submits: true },
    ],
  });
  if (answer !== true) return null;
  return Object.fromEntries(Object.entries(fields).map(([name, { control }]) => [name, control.value.trim() || null]));
}
