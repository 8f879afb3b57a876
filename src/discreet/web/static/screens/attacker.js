// Attacker's view: what can be got out of a release, before and after, and the linkage attack with a file.

import { errorText, get, post, upload } from "../api.js";
import { clear, h } from "../dom.js";
import { count, number, share } from "../format.js";
import { clearErrors, field, input, select, showError } from "../components/field.js";
import { button, facts, notice, panel, screenHead } from "../components/parts.js";
import { progress } from "../components/progress.js";
import { table } from "../components/table.js";
import { bars } from "../plots/bars.js";
import { cautions, chosenRelease, noRelease, plotWidth, releaseField, runJob, sizeBands } from "./releases.js";

const CHANCES = [0.5, 1 / 3, 0.2, 0.1, 0.09, 0.05, 0.02, 0.01];

export async function show(root, context) {
  const overview = await get("/api/attacker", { signal: context.signal });
  const head = screenHead({
    title: "Attacker's view",
    lead: "What somebody gets out of a release who knows the quasi-identifiers of a person, before and after.",
  });
  if (overview.releases.length === 0) {
    clear(root, head, noRelease("An attacker has the published file. Publish one, and see what it gives away."));
    return;
  }
  const page = {
    context,
    overview,
    release: chosenRelease(overview.releases),
    outside: null,
    threshold: "0.05",
    dominance: "0.8",
  };
  page.results = h("div", { class: "stack", id: "attack-results" });
  page.linkage = h("div", { class: "stack" });
  page.file = h("div", { class: "stack" });
  const warn = h("div", {});
  const release = releaseField(overview.releases, (found) => {
    page.release = found;
    page.outside = null;
    clear(page.linkage);
    told();
    attackNow(page);
  });
  const threshold = field({
    label: "At risk above a chance of",
    hint: "0.05 is 1 in 20.",
    name: "threshold",
    control: input({ value: page.threshold, inputmode: "decimal" }),
  });
  const dominance = field({
    label: "A value dominates above a share of",
    hint: "0.8 is 4 of 5 rows.",
    name: "dominance",
    control: input({ value: page.dominance, inputmode: "decimal" }),
  });
  const form = h(
    "form",
    {
      class: "stack",
      novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          page.threshold = threshold.control.value.trim();
          page.dominance = dominance.control.value.trim();
          attackNow(page);
        },
      },
    },
    h("div", { class: "form columns" }, release, threshold, dominance),
    h("p", { class: "form-error", role: "alert" }),
    h("div", { class: "row" }, button("Attack", { tone: "primary", type: "submit" })),
  );
  page.form = form;
  const told = () => {
    clear(
      warn,
      cautions(page.release.cautions),
      !page.release.comparable &&
        notice("The original of this release is not the table that is loaded: risks before are not known.", "warning"),
    );
    drawFile(page);
  };
  clear(
    root,
    head,
    panel({ title: "Attack" }, form),
    warn,
    page.results,
    panel(
      {
        title: "Linkage attack",
        note: "Records of a file that an attacker has are matched with rows; generalized values match what they cover.",
      },
      page.file,
      page.linkage,
    ),
  );
  told();
  await attackNow(page);
}

async function attackNow(page) {
  clearErrors(page.form);
  const { release } = page;
  const found = await runJob(
    page.results,
    "Attacking the release",
    () => post("/api/attacker/jobs", body(page), { signal: page.context.signal }),
    { signal: page.context.signal, onError: (error) => showError(page.form, error) },
  );
  if (found === null || page.release !== release) return;
  clear(page.results, risks(found), uniques(found), disclosure(found), standing(found));
  page.context.announce(
    `Prosecutor risk ${share(found.after.prosecutor.highest, 1)} at most, ` +
      `${share(found.after.prosecutor.mean, 1)} on average.`,
  );
}

function body(page) {
  return { release: page.release.name, threshold: page.threshold, dominance: page.dominance };
}

/** The marketer's risk of the original or of the release; of the original it may be unknown. */
function marketerRisk({ marketer: risk, after }, table) {
  const chance = table === after ? risk.share : risk.before;
  return chance === null ? "–" : share(chance, 1);
}

function risks(found) {
  const { before, after } = found;
  const tables = [
    ["before", before],
    ["after", after],
  ].filter(([, each]) => each);
  const over = `rows with a chance above ${found.threshold}`;
  const rows = [
    ["prosecutor risk, highest", (t) => share(t.prosecutor.highest, 1)],
    ["prosecutor risk, mean", (t) => share(t.prosecutor.mean, 1)],
    ["marketer risk", (t) => marketerRisk(found, t)],
    [over, (t) => `${number(t.prosecutor.rows_over_threshold)} (${share(t.prosecutor.rows_over_threshold, t.rows)})`],
    ["rows alone in their class", (t) => `${number(t.uniques.unique_rows)} (${share(t.uniques.unique_rows, t.rows)})`],
    ["classes", (t) => number(t.classes)],
    ["rows", (t) => number(t.rows)],
  ].map(([label, render]) => ({
    label,
    cells: Object.fromEntries(tables.map(([name, each]) => [name, render(each)])),
  }));
  const chart = CHANCES.map((chance) => ({
    label: `above ${Number(chance.toPrecision(2))}`,
    value: rowsAbove(before ?? after, chance),
    second: before ? rowsAbove(after, chance) : undefined,
  }));
  return panel(
    { title: "Risk of being named" },
    facts([
      { label: "prosecutor, highest", value: share(after.prosecutor.highest, 1) },
      { label: "prosecutor, mean", value: share(after.prosecutor.mean, 1) },
      { label: "marketer", value: share(found.marketer.share, 1) },
      {
        label: `rows above ${found.threshold}`,
        value: number(after.prosecutor.rows_over_threshold),
        tone: after.prosecutor.rows_over_threshold > 0 ? "warning" : "good",
      },
    ]),
    h(
      "div",
      { class: "split even" },
      h(
        "div",
        { class: "scroll-x whole-words", tabindex: "0", role: "group", aria: { label: "Chances before and after" } },
        table({
          caption: `Marketer risk rests on ${found.marketer.basis}.`,
          rows,
          columns: [
            { key: "label", title: "", head: true },
            ...tables.map(([name]) => ({ key: name, title: name, number: true, render: (row) => row.cells[name] })),
          ],
        }),
      ),
      bars({
        width: plotWidth(),
        rows: chart,
        format: (value) => share(value, 1),
        series: before ? ["before", "after"] : null,
        caption: "Share of rows whose chance of being named right is above a value",
        nameTitle: "chance",
      }),
    ),
  );
}

function rowsAbove(side, chance) {
  let rows = 0;
  for (const [size, classes] of Object.entries(side.class_sizes))
    if (1 / Number(size) > chance + 1e-12) rows += Number(size) * classes;
  return side.rows ? rows / side.rows : 0;
}

function uniques({ before, after }) {
  const first = before ?? after;
  const bands = sizeBands((before ?? after).class_sizes);
  const sizes = Object.keys(first.uniques.rows_by_smallest_set);
  const columns = Object.entries(first.uniques.rows_by_attribute)
    .filter(([, rows]) => rows > 0)
    .sort((a, b) => b[1] - a[1]);
  return panel(
    {
      title: "Sample uniques",
      note: "Rows that nobody else in the table looks like, and by how few columns they already stand alone.",
    },
    h(
      "div",
      { class: "split even" },
      bars({
        width: plotWidth(),
        rows: sizes.map((size) => ({
          label: `by ${size} ${size === "1" ? "column" : "columns"}`,
          value: first.uniques.rows_by_smallest_set[size],
          second: before ? after.uniques.rows_by_smallest_set[size] : undefined,
        })),
        series: before ? ["before", "after"] : null,
        caption: "Rows by the fewest columns in which they are alone",
        nameTitle: "columns",
      }),
      columns.length > 0
        ? bars({
            width: plotWidth(),
            rows: columns.map(([label, value]) => ({
              label,
              value,
              second: before ? (after.uniques.rows_by_attribute[label] ?? 0) : undefined,
            })),
            series: before ? ["before", "after"] : null,
            caption: "Rows with this column in a smallest set that singles them out",
            nameTitle: "column",
          })
        : bars({
            width: plotWidth(),
            rows: bands.map((band) => ({ label: `${band.label} rows`, value: band.count })),
            caption: "Rows by the size of their class",
            nameTitle: "class size",
          }),
    ),
  );
}

function disclosure(found) {
  const { attributes, units } = found.disclosure;
  if (attributes.length === 0)
    return panel({ title: "Sensitive values" }, notice("The release has no sensitive column.", "plain"));
  const unit = units === "groups" ? "group" : "class";
  return panel(
    { title: "Sensitive values", note: `What is learnt of a person whose ${unit} is found, without naming the row.` },
    h(
      "div",
      { class: "scroll-x whole-words", tabindex: "0", role: "region", aria: { label: "Table of sensitive values" } },
      table({
        caption: `Sensitive attributes by ${unit}`,
        hideCaption: true,
        rows: attributes,
        columns: [
          { key: "attribute", title: "attribute", head: true },
          { key: "l", title: "distinct l", number: true, render: (each) => number(each.l) },
          { key: "entropy_l", title: "entropy l", number: true, render: (each) => each.entropy_l.toFixed(2) },
          {
            key: "homogeneous_rows",
            title: `rows whose ${unit} has one value`,
            number: true,
            render: (each) => `${number(each.homogeneous_rows)} (${share(each.homogeneous_rows, each.rows)})`,
          },
          {
            key: "dominated_rows",
            title: `rows with a value in over ${share(found.dominance, 1)} of it`,
            number: true,
            render: (each) => `${number(each.dominated_rows)} (${share(each.dominated_rows, each.rows)})`,
          },
        ],
      }),
    ),
    h(
      "div",
      { class: "plot-room" },
      bars({
        width: plotWidth(),
        rows: attributes.map((each) => ({
          label: each.attribute,
          value: each.guessed_right_without_release,
          second: each.guessed_right,
        })),
        format: (value) => share(value, 1),
        series: ["without the release", "with it"],
        caption: "Share of rows whose value is guessed right by taking the most frequent one",
        nameTitle: "attribute",
      }),
    ),
  );
}

function standing(found) {
  const list = found.standing_out;
  if (list.length === 0) return null;
  const names = Object.keys(list[0].values);
  return panel(
    {
      title: "Classes that stand out",
      note: "The smallest. Apart by: the fewest columns in which a class differs from any other.",
    },
    h(
      "div",
      {
        class: "scroll-x whole-words",
        tabindex: "0",
        role: "region",
        aria: { label: "Table of classes that stand out" },
      },
      table({
        caption: "Classes that stand out",
        hideCaption: true,
        dense: true,
        rows: list,
        columns: [
          { key: "rows", title: "rows", number: true, head: true, render: (each) => number(each.rows) },
          { key: "distance", title: "apart by", number: true, render: (each) => number(each.distance) },
          ...names.map((name) => ({
            key: name,
            title: name,
            render: (each) => each.values[name] ?? h("span", { class: "muted" }, "NULL"),
          })),
        ],
      }),
    ),
  );
}

function drawFile(page) {
  const pick = h("input", {
    type: "file",
    accept: ".csv,.tsv,.parquet,.json,.jsonl",
    class: "visually-hidden",
    id: "outside-file",
    on: { change: () => pick.files[0] && take(page, pick.files[0]) },
  });
  const drop = h(
    "div",
    {
      class: "drop",
      on: {
        dragover: (event) => {
          event.preventDefault();
          drop.classList.add("over");
        },
        dragleave: () => drop.classList.remove("over"),
        drop: (event) => {
          event.preventDefault();
          drop.classList.remove("over");
          if (event.dataTransfer.files[0]) take(page, event.dataTransfer.files[0]);
        },
      },
    },
    h("p", {}, h("strong", {}, "Drop a file that an attacker might have"), " (a voter list, a customer list)"),
    h(
      "p",
      { class: "muted small" },
      "It stays in your workspace, as the table does. One record per line, columns that match quasi-identifiers.",
    ),
    pick,
    h("label", { class: "button", for: "outside-file" }, "Choose a file"),
  );
  clear(page.file, drop);
}

async function take(page, file) {
  const bar = progress(`Reading ${file.name}`);
  clear(page.file, bar.element);
  try {
    const stored = await upload(file, (sent, total) => bar.set(sent, total), {
      signal: page.context.signal,
      replace: true,
    });
    page.outside = await post(
      "/api/attacker/outside",
      { release: page.release.name, outside: stored.name },
      { signal: page.context.signal },
    );
    drawMatch(page);
  } catch (error) {
    drawFile(page);
    page.file.append(notice(errorText(error), "bad"));
  }
}

function drawMatch(page) {
  const { outside, release, overview } = page;
  const none = [["", "– not known –"]];
  const proposed = Object.fromEntries(Object.entries(outside.match).map(([column, name]) => [name, column]));
  const selects = release.quasi_identifiers.map((name) => [
    name,
    field({
      label: name,
      name: `match.${name}`,
      control: select([...none, ...outside.columns], { value: proposed[name] ?? "" }),
    }),
  ]);
  const key = field({
    label: "Key of the file",
    hint: "A column that says who is who, where the original has it too.",
    optional: true,
    name: "key",
    control: select([["", "– none –"], ...outside.columns], { value: "" }),
  });
  const original = field({
    label: "Key in the original",
    optional: true,
    name: "original",
    control: select([["", "– none –"], ...overview.columns], { value: "" }),
  });
  key.control.addEventListener("change", () => {
    if (overview.columns.includes(key.control.value)) original.control.value = key.control.value;
  });
  const role = field({
    label: "This file is",
    name: "kind",
    control: select(
      [
        ["outside", "some people"],
        ["population", "the population"],
      ],
      {},
    ),
  });
  const form = h(
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
    h(
      "p",
      {},
      h("strong", {}, outside.name),
      `: ${count(outside.columns.length, "column")}. Say which column tells which quasi-identifier.`,
    ),
    h(
      "div",
      { class: "form columns" },
      selects.map(([, each]) => each),
    ),
    h("div", { class: "form columns" }, role, release.comparable && key, release.comparable && original),
    h("p", { class: "form-error", role: "alert" }),
    h(
      "div",
      { class: "row" },
      button("Link", { tone: "primary", type: "submit" }),
      button("Another file", {
        tone: "quiet",
        onClick: () => {
          page.outside = null;
          clear(page.linkage);
          drawFile(page);
        },
      }),
    ),
  );
  clear(page.file, form);

  async function send() {
    clearErrors(form);
    const match = Object.fromEntries(
      selects.filter(([, each]) => each.control.value).map(([name, each]) => [each.control.value, name]),
    );
    const population = role.control.value === "population";
    const asked = { ...body(page), match, [population ? "population" : "outside"]: outside.name };
    if (!population && key.control.value && original.control.value)
      asked.key = `${key.control.value}=${original.control.value}`;
    const found = await runJob(
      page.linkage,
      "Linking",
      () => post("/api/attacker/jobs", asked, { signal: page.context.signal }),
      { signal: page.context.signal, onError: (error) => showError(form, error) },
    );
    if (found === null) return;
    clear(page.linkage, population ? journalist(found) : linkage(found));
    page.context.announce("The linkage attack is done.");
  }
}

function journalist({ journalist: risk, marketer, threshold }) {
  return h(
    "div",
    { class: "stack" },
    facts([
      { label: "journalist, highest", value: share(risk.highest, 1) },
      { label: "journalist, mean", value: share(risk.mean, 1) },
      { label: "marketer", value: share(marketer.share, 1) },
      { label: `rows above ${threshold}`, value: number(risk.rows_over_threshold) },
      { label: "people counted", value: number(risk.people) },
    ]),
    risk.classes_with_fewer_people_than_rows > 0 &&
      notice(
        `In ${count(risk.classes_with_fewer_people_than_rows, "class", "classes")} the file has fewer people ` +
          `than the release has rows: it is not the whole population, and the rows count there.`,
        "warning",
      ),
    risk.incomplete_people > 0 &&
      notice(`${count(risk.incomplete_people, "record")} lack a matched value and hide nobody.`, "plain"),
  );
}

function linkage(found) {
  const { before, after } = found.linkage;
  const sides = [
    ["before", before],
    ["after", after],
  ].filter(([, each]) => each);
  const rows = [
    ["records that match a row", (s) => `${number(s.matched)} (${share(s.matched, s.records)})`],
    ["records that match one row", (s) => `${number(s.matched_one_row)} (${share(s.matched_one_row, s.records)})`],
    ["matching rows, median", (s) => number(s.median_matches)],
    ["right links, if all were in the table", (s) => number(Math.round(s.expected_if_present * 10) / 10)],
    after.expected_correct !== null && ["records of people in the original", (s) => number(s.known)],
    after.expected_correct !== null && [
      "right links expected",
      (s) => number(Math.round(s.expected_correct * 10) / 10),
    ],
  ]
    .filter(Boolean)
    .map(([label, render]) => ({
      label,
      cells: Object.fromEntries(sides.map(([name, each]) => [name, render(each)])),
    }));
  const steps = Object.keys(after.matches).map((least, place) => ({
    label: found.steps[place],
    value: (before ?? after).matches[least],
    second: before ? after.matches[least] : undefined,
  }));
  return h(
    "div",
    { class: "stack" },
    facts([
      { label: "records", value: number(after.records) },
      before && {
        label: "right links before",
        value: number(Math.round((before.expected_correct ?? before.expected_if_present) * 10) / 10),
        tone: "bad",
      },
      {
        label: "right links after",
        value: number(Math.round((after.expected_correct ?? after.expected_if_present) * 10) / 10),
        tone: "good",
      },
    ]),
    h(
      "div",
      { class: "split even" },
      h(
        "div",
        { class: "scroll-x whole-words", tabindex: "0", role: "group", aria: { label: "Links before and after" } },
        table({
          caption: `Matched by ${found.linkage.columns.map((each) => each.release).join(", ")}.`,
          rows,
          columns: [
            { key: "label", title: "", head: true },
            ...sides.map(([name]) => ({ key: name, title: name, number: true, render: (row) => row.cells[name] })),
          ],
        }),
      ),
      bars({
        width: plotWidth(),
        rows: steps,
        series: before ? ["before", "after"] : null,
        caption: "Records by the number of rows that match them",
        nameTitle: "matching rows",
      }),
    ),
    found.linkage.incomplete_records > 0 &&
      notice(
        `${count(found.linkage.incomplete_records, "record")} lack a matched value, which the attacker then ` +
          `does not know.`,
        "plain",
      ),
    found.linkage.records_with_strange_values > 0 &&
      notice(
        `${count(found.linkage.records_with_strange_values, "record")} have a value that no leaf of a hierarchy ` +
          `has: only cells that show everything match them.`,
        "plain",
      ),
  );
}
