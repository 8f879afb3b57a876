// Publish: model, options, output; the audit before anything is handed over; the releases there are.

import { download, errorText, get, post, remove } from "../api.js";
import { clear, h } from "../dom.js";
import { count, number, share } from "../format.js";
import { checkbox, clearErrors, field, input, segmented, select, showError } from "../components/field.js";
import { confirmDialog, openDialog } from "../components/dialog.js";
import { badge, button, empty, facts, linkButton, notice, panel, screenHead } from "../components/parts.js";
import { table } from "../components/table.js";
import { histogram } from "../plots/histogram.js";
import { CriteriaControls } from "./negotiate-criteria.js";
import { cautions, modelBadge, plotWidth, rememberRelease, runJob, sizeBands } from "./releases.js";

export async function show(root, context) {
  const overview = await get("/api/publish", { signal: context.signal });
  const work = h("div", { class: "stack", id: "publish-work" });
  const list = h("div", { class: "stack" });
  const page = { context, overview, work, list, root };
  clear(
    root,
    screenHead({
      title: "Publish",
      lead: "Choose a model, write the release, read its audit. Only a release whose audit passed can be downloaded.",
    }),
    overview.quasi_identifiers.length === 0
      ? empty({
          title: "Nothing to publish yet",
          text: "A release is made of a table with quasi-identifiers. Load the table and say what its columns are.",
          actions: [linkButton("Load a table", "#/load", { tone: "primary" }), linkButton("Columns", "#/columns")],
        })
      : h("div", { class: "split publish" }, form(page), h("div", { class: "stack beside" }, work, aside(page))),
    panel({ title: "Releases", note: "In this workspace, the latest first." }, list),
  );
  showReleases(page, overview.releases);
}

function aside({ overview }) {
  if (overview.releases.length > 0) return null;
  return panel(
    { title: "What happens" },
    h(
      "ol",
      { class: "steps-told" },
      h("li", {}, "The rows are recoded and written under a name that only you can read."),
      h("li", {}, "The written file is read again and counted by SQL of its own: that is the audit."),
      h("li", {}, "Where the audit passes, file and manifest are put in place. Where it fails, nothing is left."),
    ),
  );
}

function form(page) {
  const { overview } = page;
  const options = h("div", { class: "form columns" });
  const levels = h("div", { class: "stack" });
  const told = h("p", { class: "muted" });
  const model = select([], { name: "model", on: { change: () => fit() } });
  model.append(
    h(
      "optgroup",
      { label: "Models" },
      overview.models.filter((each) => each.main).map((each) => h("option", { value: each.name }, each.title)),
    ),
    h(
      "optgroup",
      { label: "More models" },
      overview.models.filter((each) => !each.main).map((each) => h("option", { value: each.name }, each.title)),
    ),
  );
  const k = field({
    label: "k",
    hint: "Least rows of a class.",
    name: "k",
    optional: true,
    control: input({ type: "number", min: 1, value: overview.k ?? "" }),
  });
  const l = field({
    label: "l",
    hint: "Least distinct sensitive values of a class.",
    name: "l",
    optional: true,
    control: input({ type: "number", min: 1, value: Number.isInteger(overview.l) ? overview.l : "" }),
  });
  const most = field({
    label: "Suppressed at most",
    hint: "Rows, or a share such as 1%.",
    name: "max_suppressed",
    optional: true,
    control: input({ value: overview.max_suppressed ?? "" }),
  });
  const criteria = new CriteriaControls(overview.criterion_kinds, overview.sensitive, { onInput: () => {} });
  criteria.set(overview.criteria);
  const asked = h("div", { class: "stack" }, h("div", { class: "form columns" }, k, l, most), criteria.element);
  const name = field({
    label: "Name",
    name: "name",
    hint: "Of the file, without its ending.",
    control: input({ value: freeName(overview), required: true }),
  });
  const ending = select([], {});
  const format = field({ label: "Format", name: "format", control: ending });
  let star = "drop";
  const policy = segmented({
    label: "Suppressed rows are",
    options: [
      ["drop", "left out"],
      ["star", "starred"],
    ],
    value: "drop",
    onChange: (value) => {
      star = value;
    },
  });
  const table = field({
    label: "Table",
    name: "table",
    hint: `SCHEMA.NAME in ${overview.database}: you need the right to create tables in that schema.`,
    control: input({ placeholder: "out.people" }),
  });
  let place = "file";
  const where = segmented({
    label: "The release is",
    options: [
      ["file", "a file"],
      ["table", "a table of the database"],
    ],
    value: "file",
    onChange: (value) => {
      place = value;
      fitPlace();
    },
  });
  where.hidden = overview.database === null;
  const file = h("div", { class: "form columns" }, name, format);
  const overwrite = checkbox("Replace a release of this name", {});
  const submit = button("Publish", { tone: "primary", type: "submit" });
  const element = h(
    "form",
    {
      class: "stack",
      novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          send();
        },
      },
    },
    field({ label: "Model", name: "model", control: model }),
    told,
    levels,
    asked,
    options,
    where,
    file,
    table,
    policy,
    overwrite,
    h("p", { class: "form-error", role: "alert" }),
    h("div", { class: "row" }, submit),
  );

  function fitPlace() {
    file.hidden = place !== "file";
    table.hidden = place !== "table";
  }

  function fit() {
    const chosen = overview.models.find((each) => each.name === model.value);
    told.textContent = chosen.text;
    clear(levels, chosen.takes_levels ? chosenNode(overview.choice) : null);
    asked.hidden = chosen.takes_levels;
    l.hidden = !chosen.takes_l;
    criteria.offer(chosen.takes_l);
    most.hidden = !chosen.takes_suppression;
    policy.hidden = !chosen.takes_suppression;
    submit.disabled = chosen.takes_levels && !overview.choice;
    k.querySelector(".hint").textContent = chosen.permuted
      ? "Least distinct values of a group."
      : "Least rows of a class.";
    clear(
      ending,
      chosen.formats.map((each) =>
        h("option", { value: each }, { ".csv": "CSV", ".parquet": "Parquet", ".duckdb": "DuckDB database" }[each]),
      ),
    );
    clear(
      options,
      chosen.fields.map((each) => optionField(each, overview)),
    );
    clear(
      page.work,
      chosen.permuted
        ? notice(
            "Quasi-identifiers stay as they are: who is in the release, and which row is whose, is not " +
              "protected. Only which sensitive value of the group is whose.",
            "warning",
          )
        : null,
    );
  }

  async function send() {
    clearErrors(element);
    const chosen = overview.models.find((each) => each.name === model.value);
    const body = {
      model: chosen.name,
      ...(place === "table"
        ? { table: table.control.value.trim() }
        : { name: `${name.control.value.trim()}${ending.value}` }),
      suppressed: chosen.takes_suppression ? star : "drop",
      overwrite: overwrite.control.checked,
      options: {},
    };
    if (chosen.takes_levels) {
      Object.assign(body, {
        levels: overview.choice.levels,
        k: overview.choice.requirement.k,
        l: overview.choice.requirement.l,
        criteria: overview.choice.requirement.criteria ?? {},
        max_suppressed: overview.choice.max_suppressed,
      });
    } else {
      body.k = whole(k.control.value);
      if (chosen.takes_l) body.l = whole(l.control.value);
      if (chosen.takes_l) body.criteria = criteria.value() ?? {};
      if (chosen.takes_suppression && most.control.value.trim()) body.max_suppressed = most.control.value.trim();
    }
    for (const each of options.querySelectorAll("[data-option]")) body.options[each.dataset.option] = optionValue(each);
    submit.disabled = true;
    const found = await runJob(
      page.work,
      `Publishing ${body.name ?? body.table}`,
      () => post("/api/publish/jobs", body, { signal: page.context.signal }),
      { signal: page.context.signal, onError: (error) => Boolean(error.field) && showError(element, error) },
    );
    submit.disabled = false;
    if (found === null) return;
    rememberRelease(found.release.name);
    clear(page.work, auditPanel(page, found, { fresh: true }));
    page.context.announce(verdict(found));
    overview.releases = [found.release, ...overview.releases.filter((each) => each.name !== found.release.name)];
    name.control.value = freeName(overview);
    showReleases(page, overview.releases);
    page.context.state.refresh().catch(() => {});
  }

  fit();
  fitPlace();
  return panel({ title: "The release" }, element);
}

function chosenNode(choice) {
  if (!choice) {
    return notice(
      [
        "No node is chosen. ",
        h("a", { href: "#/negotiate" }, "Negotiate"),
        " until you like an answer, and choose it; or take another model, which needs no node.",
      ],
      "warning",
    );
  }
  const asked = [
    choice.requirement.k && `k ${choice.requirement.k}`,
    Number.isInteger(choice.requirement.l) && `l ${choice.requirement.l}`,
    ...Object.entries(choice.requirement.criteria ?? {}).map(([name, value]) => `${name} ${told(value)}`),
  ]
    .filter(Boolean)
    .join(", ");
  return h(
    "div",
    { class: "card" },
    h("h3", {}, "The node chosen in Negotiate"),
    facts([
      { label: "requirement", value: asked || "none" },
      { label: "suppressed", value: `${number(choice.suppressed)} (${share(choice.suppressed, choice.rows)})` },
      { label: "height", value: number(choice.height) },
    ]),
    h(
      "ul",
      { class: "levels" },
      Object.entries(choice.levels).map(([each, level]) =>
        h("li", {}, h("span", { class: "mono" }, each), badge(`level ${level}`, level === 0 ? "plain" : "accent")),
      ),
    ),
    h("p", { class: "small" }, h("a", { href: "#/negotiate" }, "Choose another")),
  );
}

function optionField(each, overview) {
  const control = optionControl(each, overview);
  if (each.kind === "flag") {
    control.box.dataset.option = each.name;
    return control;
  }
  control.dataset.option = each.name;
  return field({ label: each.label, hint: each.hint || null, control });
}

function optionControl(each, overview) {
  if (each.kind === "flag") return checkbox(each.label, {});
  if (each.kind === "sensitive") return select(overview.sensitive, {});
  if (each.kind === "quasi-identifiers")
    return select(overview.quasi_identifiers, { multiple: true, size: Math.min(5, overview.quasi_identifiers.length) });
  if (each.kind === "choice" || each.kind === "model")
    return select(each.choices, { value: each.default ?? each.choices[0] });
  if (each.repeatable || each.kind === "numbers")
    return h("textarea", { class: "input mono", rows: 2, spellcheck: "false", maxlength: 4000 });
  // A number that may be a word too is typed as a text.
  const isNumber = ["whole", "decimal"].includes(each.kind) && each.choices.length === 0;
  return input({
    type: isNumber ? "number" : "text",
    step: each.kind === "decimal" ? "any" : "1",
    value: each.default ?? "",
  });
}

function optionValue(control) {
  if (control.type === "checkbox") return control.checked;
  return control.multiple ? [...control.selectedOptions].map((o) => o.value) : control.value;
}

function verdict({ release, audit }) {
  const units = release.permuted ? count(audit.classes, "group") : count(audit.classes, "class", "classes");
  return audit.passed
    ? `Audit passed: ${count(audit.rows, "row")} in ${units}, the smallest of ${number(audit.k)}.`
    : "Audit failed: nothing is handed over.";
}

function auditPanel(page, { release, audit }, { fresh = false } = {}) {
  const unit = release.permuted ? "group" : "class";
  const said = [...new Set([...release.warnings, ...audit.warnings])];
  const place = h("div", {});
  return panel(
    {
      title: `${fresh ? "Published: " : ""}${release.name}`,
      note: `Counted in the written ${isTable(release) ? "table" : "file"}, by a path of its own.`,
      label: `Audit of ${release.name}`,
    },
    notice(verdict({ release, audit }), audit.passed ? "good" : "bad"),
    cautions(release.cautions),
    facts([
      { label: "rows", value: number(audit.rows) },
      { label: release.permuted ? "groups" : "classes", value: number(audit.classes) },
      { label: `smallest ${unit}`, value: number(audit.k) },
      { label: "suppressed", value: number(release.suppressed) },
      ...Object.entries(audit.l).map(([name, value]) => ({ label: `l of ${name}`, value: number(value) })),
    ]),
    histogram({
      width: plotWidth(),
      bins: sizeBands(audit.class_sizes),
      xTitle: `rows of the ${unit}`,
      yTitle: "rows",
      caption: `Rows by the size of their ${unit}`,
    }),
    said.length > 0 &&
      h(
        "details",
        { class: "warnings", open: said.length < 4 },
        h("summary", {}, count(said.length, "warning")),
        h(
          "ul",
          {},
          said.map((each) => h("li", {}, each)),
        ),
      ),
    isTable(release) && tables(release),
    audit.passed && h("div", { class: "row" }, downloads(page, release, place)),
    place,
  );
}

function isTable(release) {
  return Object.keys(release.tables).length > 0;
}

function tables(release) {
  const words = {
    data: "Data",
    manifest: "Manifest",
    help: "Help table",
    sensitive: "Sensitive table",
    groups: "View: groups",
    with_bounds: "View: bounds",
  };
  return h(
    "div",
    { class: "tables" },
    h("h3", {}, "In the database"),
    h(
      "ul",
      {},
      Object.entries(release.tables).map(([what, name]) =>
        h("li", {}, `${words[what] ?? what}: `, h("span", { class: "mono" }, name)),
      ),
    ),
  );
}

function downloads(page, release, place) {
  const base = `/api/publish/releases/${encodeURIComponent(release.name)}`;
  const words = { data: "Data", manifest: "Manifest", help: "Help table", sensitive: "Sensitive table" };
  const files = Object.entries(release.files)
    .filter(([what]) => what !== "report")
    .map(([what, name]) =>
      button(words[what] ?? what, {
        icon: "download",
        title: name,
        onClick: () => take(`${base}/files/${what}`, name),
      }),
    );
  const report = release.files.report
    ? [
        h("a", { class: "button", href: `${base}/report`, target: "_blank", rel: "noopener" }, "Read the report"),
        button("Report", {
          icon: "download",
          title: release.files.report,
          onClick: () => take(`${base}/files/report`, release.files.report),
        }),
      ]
    : [button("Write the report…", { onClick: () => writeReport(page, release, place) })];
  return [...files, ...report];

  async function take(path, name) {
    try {
      await get(base); // an audit that fails says so here, in words, and not as a broken download
      download(path, name);
    } catch (error) {
      page.context.toast(errorText(error), { tone: "bad" });
    }
  }
}

async function writeReport(page, release, place) {
  const area = (rows) => h("textarea", { class: "input", rows, maxlength: 4000 });
  const fields = {
    title: field({ label: "Title", optional: true, control: input({ maxlength: 200 }) }),
    purpose: field({ label: "Purpose of the release", optional: true, control: area(2) }),
    recipient: field({ label: "Recipients", optional: true, control: area(2) }),
    threat_model: field({
      label: "Threat model",
      hint: "Who might try, what they know, what keeps them from it.",
      optional: true,
      control: area(3),
    }),
  };
  const answer = await openDialog({
    title: `The report of ${release.name}`,
    body: h(
      "div",
      { class: "form" },
      h("p", { class: "muted" }, "What you leave out stays blank in the report, to be filled in by hand."),
      Object.values(fields),
    ),
    actions: [
      { label: "Cancel", value: false },
      { label: "Write the report", value: true, tone: "primary", submits: true },
    ],
  });
  if (answer !== true) return;
  const body = Object.fromEntries(
    Object.entries(fields).map(([name, each]) => [name, each.control.value.trim() || null]),
  );
  const made = await runJob(
    place,
    "Writing the report",
    () => post(`/api/publish/releases/${encodeURIComponent(release.name)}/report`, body),
    { signal: page.context.signal },
  );
  if (made === null) return;
  const fresh = await get(`/api/publish/releases/${encodeURIComponent(release.name)}`, { signal: page.context.signal });
  page.overview.releases = page.overview.releases.map((each) => (each.name === release.name ? fresh.release : each));
  clear(page.work, auditPanel(page, fresh));
  showReleases(page, page.overview.releases);
  page.context.toast("The report is written.", { tone: "good" });
}

function showReleases(page, releases) {
  if (releases.length === 0) {
    clear(
      page.list,
      h("p", { class: "muted" }, "Nothing is published yet. A release appears here once its audit has passed."),
    );
    return;
  }
  clear(
    page.list,
    h(
      "div",
      { class: "scroll-x whole-words", tabindex: "0", role: "region", aria: { label: "Table of releases" } },
      table({
        caption: "Releases of this workspace",
        hideCaption: true,
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
            render: (each) => h("span", { class: "nowrap" }, each.date),
            sort: (each) => each.date,
          },
          { key: "rows", title: "rows", number: true, render: (each) => number(each.rows), sort: (each) => each.rows },
          { key: "suppressed", title: "suppressed", number: true, render: (each) => number(each.suppressed) },
          { key: "k", title: "smallest", number: true, render: (each) => number(each.k) },
          {
            key: "actions",
            title: "",
            render: (each) =>
              h(
                "div",
                { class: "row nowrap" },
                button("Audit and files", { small: true, onClick: () => open(page, each) }),
                button(isTable(each) ? "Take off the list" : "Delete", {
                  small: true,
                  tone: isTable(each) ? "" : "danger",
                  onClick: () => removeRelease(page, each),
                }),
              ),
          },
        ],
      }),
    ),
    releases.some((each) => each.permuted) && cautions(releases.find((each) => each.permuted).cautions),
  );
}

async function open(page, release) {
  clear(page.work, notice(`Auditing the ${isTable(release) ? "table" : "file"}…`, "plain"));
  try {
    rememberRelease(release.name);
    const found = await get(`/api/publish/releases/${encodeURIComponent(release.name)}`, {
      signal: page.context.signal,
    });
    clear(page.work, auditPanel(page, found));
    page.work.scrollIntoView({ block: "nearest" });
    page.context.announce(verdict(found));
  } catch (error) {
    if (!page.context.signal.aborted) clear(page.work, notice(errorText(error), "bad"));
  }
}

async function removeRelease(page, release) {
  const sure = await confirmDialog(
    isTable(release)
      ? {
          title: `Take ${release.name} off the list?`,
          text:
            `The report is removed. The tables stay in the database; whoever owns them drops them there: ` +
            `${Object.values(release.tables).join(", ")}.`,
          action: "Take off the list",
        }
      : {
          title: `Delete ${release.name}?`,
          text:
            "Data, manifest, report and further files are removed from this workspace. What was handed over " +
            "stays where it is.",
          action: "Delete",
          tone: "danger",
        },
  );
  if (!sure) return;
  try {
    await remove(`/api/publish/releases/${encodeURIComponent(release.name)}`);
    page.overview.releases = page.overview.releases.filter((each) => each.name !== release.name);
    clear(page.work);
    showReleases(page, page.overview.releases);
    page.context.toast(isTable(release) ? `${release.name} is off the list.` : `${release.name} is deleted.`);
    page.context.state.refresh().catch(() => {});
  } catch (error) {
    page.context.toast(errorText(error), { tone: "bad" });
  }
}

function freeName(overview) {
  const taken = new Set(overview.releases.map((each) => each.name.replace(/\.\w+$/, "")));
  let place = 1;
  while (taken.has(`release-${place}`)) place += 1;
  return `release-${place}`;
}

/** A criterion's value, or its values by attribute. */
function told(value) {
  if (typeof value === "number") return number(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${number(part)}`)
    .join(", ");
}

function whole(words) {
  return words.trim() === "" ? null : Number(words);
}
