// Publish: model, options, output; the audit before any download; the existing releases.

import { errorText, get, lineState, remove } from "../api.js";
import { composition, empty, linkButton, notice, panel, screenHead } from "../components/parts.js";
import { toastError } from "../components/status.js";
import { clear, h } from "../dom.js";
import { auditPanel, verdict } from "../publish/audit.js";
import { releaseForm } from "../publish/release-form.js";
import { showReleases } from "../publish/release-list.js";
import { rememberRelease } from "../release/choice.js";
import { isTable, releasePath } from "../release/words.js";

export async function show(root, context) {
  const overview = await get("/api/publish", { signal: context.signal });
  const work = h("div", { class: "stack", id: "audit" });
  const notes = h("div", { class: "stack" });
  const list = h("div", { class: "stack" });
  let form = null;
  const { listReleases, published } = releaseActions({ context, overview, work, list, onListed: () => form?.listed() });
  const head = screenHead({
    title: "Publish",
    lead: "Choose a model, write the release, read its audit. Only a release whose audit passed can be downloaded.",
  });
  const releases = panel({ title: "Releases", note: "In this workspace, the latest first." }, list);
  if (overview.quasi_identifiers.length === 0) clear(root, head, nothingToPublish(), releases);
  else {
    const results = h("div", { class: "stack results" }, notes, work, overview.releases.length === 0 && whatHappens());
    form = releaseForm({ overview, notes, signal: context.signal, onPublished: published });
    clear(root, composition([head, form], results, releases));
  }
  listReleases();
  return { changed: publishing(form, context.signal) };
}

/** Disable publishing while the server is out of reach, or while data of the form have changed elsewhere. */
function publishing(form, signal) {
  let changed = false;
  const tell = () => {
    const line = lineState() === "open" ? null : "The server does not answer, or you are signed out";
    form?.outdate(changed ? "Changed in another tab: check it first" : line);
  };
  let line = lineState();
  const hear = () => {
    if (lineState() === line) return;
    line = lineState();
    tell();
  };
  window.addEventListener("discreet:line", hear, { signal });
  return (parts) => {
    changed = parts.length > 0;
    tell();
  };
}

/** Actions on releases: `work` shows one with its audit, `list` all of them; `onListed()` after each change. */
function releaseActions({ context, overview, work, list, onListed }) {
  const { signal, announce, toast, state } = context;

  function listReleases() {
    showReleases(list, overview.releases, { onOpen: open, onRemove: removeOne });
    onListed();
  }

  function showAudit(found, about = {}) {
    clear(work, auditPanel(found, { ...about, signal, onReport: reported }));
  }

  function published(found) {
    const { release } = found;
    rememberRelease(release.name);
    showAudit(found, { fresh: true });
    announce(verdict(found));
    overview.releases = [release, ...overview.releases.filter((each) => each.name !== release.name)];
    listReleases();
    state.refresh().catch(() => {});
  }

  function reported(found) {
    overview.releases = overview.releases.map((each) => (each.name === found.release.name ? found.release : each));
    showAudit(found);
    listReleases();
    toast("The report is written.", { tone: "good" });
  }

  async function open(release) {
    clear(work, notice(`Auditing the ${isTable(release) ? "table" : "file"}…`, "plain"));
    rememberRelease(release.name);
    try {
      const found = await get(releasePath(release), { signal });
      showAudit(found);
      work.scrollIntoView({ block: "nearest" });
      announce(verdict(found));
    } catch (error) {
      if (!signal.aborted) clear(work, notice(errorText(error), "bad"));
    }
  }

  async function removeOne(release) {
    try {
      await remove(releasePath(release));
      overview.releases = overview.releases.filter((each) => each.name !== release.name);
      clear(work);
      listReleases();
      toast(isTable(release) ? `${release.name} is off the list.` : `${release.name} is deleted.`);
      state.refresh().catch(() => {});
    } catch (error) {
      toastError(error);
    }
  }

  return { listReleases, published };
}

function nothingToPublish() {
  return empty({
    title: "Nothing to publish yet",
    text: "A release is made of a table with quasi-identifiers. Load the table and set the roles of its columns.",
    actions: [linkButton("Load a table", "#/load", { tone: "primary" }), linkButton("Columns", "#/columns")],
  });
}

function whatHappens() {
  return panel(
    { title: "Steps" },
    h(
      "ol",
      { class: "steps-list" },
      h("li", {}, "The rows are recoded and written to a file that only you can read."),
      h("li", {}, "The audit reads the written file and counts it with separate SQL."),
      h("li", {}, "If the audit passes, file and manifest are stored; if it fails, both are deleted."),
    ),
  );
}
