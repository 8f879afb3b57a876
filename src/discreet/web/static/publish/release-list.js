// The releases of the workspace, as a table; each can be audited again and removed.

import { clear, h } from "../dom.js";
import { day, number } from "../format.js";
import { confirmDialog } from "../components/dialog.js";
import { button } from "../components/parts.js";
import { wideTable } from "../components/table.js";
import { cautions, isTable, modelBadge } from "../release/words.js";

/** Show releases in `place`; `onOpen(release)` to audit one, `onRemove(release)` after a confirmation. */
export function showReleases(place, releases, { onOpen, onRemove }) {
  if (releases.length === 0) {
    clear(
      place,
      h("p", { class: "muted" }, "Nothing is published yet. A release appears here once its audit has passed."),
    );
    return;
  }
  const remove = async (release) => {
    if (await confirmDialog(questionOf(release))) onRemove(release);
  };
  const actions = (release) =>
    h(
      "div",
      { class: "row nowrap" },
      button("Audit and files", { small: true, onClick: () => onOpen(release) }),
      button(isTable(release) ? "Remove from the list" : "Delete", {
        small: true,
        tone: isTable(release) ? "" : "danger",
        onClick: () => remove(release),
      }),
    );
  const permuted = releases.find((each) => each.permuted);
  clear(
    place,
    wideTable({
      label: "Table of releases",
      caption: "Releases of this workspace",
      rows: releases,
      columns: [
        {
          key: "name",
          title: "release",
          head: true,
          render: (each) => h("span", { class: "release-name" }, each.name),
          sort: (each) => each.name,
        },
        { key: "model", title: "model", render: modelBadge },
        {
          key: "date",
          title: "made on",
          render: (each) => h("span", { class: "nowrap" }, day(each.date)),
          sort: (each) => each.date,
        },
        { key: "rows", title: "rows", number: true, render: (each) => number(each.rows), sort: (each) => each.rows },
        { key: "suppressed", title: "suppressed", number: true, render: (each) => number(each.suppressed) },
        { key: "k", title: "smallest", number: true, render: (each) => number(each.k) },
        { key: "actions", title: "", render: actions },
      ],
    }),
    h("p", {}, h("a", { class: "text-link", href: "#/compare" }, "Compare them")),
    permuted && cautions(permuted.cautions),
  );
}

function questionOf(release) {
  if (isTable(release)) {
    const places = Object.values(release.tables).join(", ");
    return {
      title: `Remove ${release.name} from the list?`,
      text: `The report is removed. The tables stay in the database; their owner can drop them there: ${places}.`,
      action: "Remove from the list",
    };
  }
  return {
    title: `Delete ${release.name}?`,
    text:
      "Data, manifest, report and further files are removed from this workspace. Copies already handed over " +
      "are not affected.",
    action: "Delete",
    tone: "danger",
  };
}
