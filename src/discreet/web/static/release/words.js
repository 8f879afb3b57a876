// What is told of a release wherever it is shown.

import { h } from "../dom.js";
import { badge, notice } from "../components/parts.js";

/** What must stand beside a permuted release. */
export function cautions(texts) {
  if (texts.length === 0) return null;
  return notice([h("strong", {}, "Permuted release. "), texts.map((each) => h("p", {}, each))], "warning");
}

/** The model of a release as a badge. */
export function modelBadge(release) {
  return badge(release.title, release.permuted ? "warning" : "accent");
}

/** Whether a release is a table of a database. */
export function isTable(release) {
  return Object.keys(release.tables).length > 0;
}

const PARTS = {
  data: "Data",
  manifest: "Manifest",
  help: "Help table",
  sensitive: "Sensitive table",
  report: "Report",
  groups: "View: groups",
  with_bounds: "View: bounds",
};

/** What a file, a table or a view of a release is called. */
export function partName(what) {
  return PARTS[what] ?? what;
}

/** Where the server has a release. */
export function releasePath({ name }) {
  return `/api/publish/releases/${encodeURIComponent(name)}`;
}
