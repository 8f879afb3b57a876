// Texts about a release that several screens show.

import { h } from "../dom.js";
import { badge, notice } from "../components/parts.js";

/** Show the cautions of a permuted release. */
export function cautions(texts) {
  if (texts.length === 0) return null;
  return notice([h("strong", {}, "Permuted release. "), texts.map((each) => h("p", {}, each))], "warning");
}

/** The model of a release as a badge. */
export function modelBadge(release) {
  return badge(release.title, release.permuted ? "warning" : "accent");
}

/** Return true if a release is a table of a database. */
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

/** Return the title of a file, a table or a view of a release. */
export function partName(what) {
  return PARTS[what] ?? what;
}

/** Return the path of a release in the API. */
export function releasePath({ name }) {
  return `/api/publish/releases/${encodeURIComponent(name)}`;
}
