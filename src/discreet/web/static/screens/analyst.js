// Analyst's view: queries with truth, estimate and bounds; metrics; distributions before and after.

import { get, post } from "../api.js";
import { clear, h } from "../dom.js";
import { number, share, significant } from "../format.js";
import { clearErrors, field, showError } from "../components/field.js";
import { badge, button, facts, notice, panel, screenHead } from "../components/parts.js";
import { table } from "../components/table.js";
import { bars } from "../plots/bars.js";
import { cautions, chosenRelease, noRelease, plotWidth, releaseField, runJob } from "./releases.js";

const MOST_INTERVALS = 12;

export async function show(root, context) {
  const overview = await get("/api/analyst", { signal: context.signal });
  const head = screenHead({
    title: "Analyst's view",
    lead:
      "Ask the release what an analyst would ask. Bounds hold surely; the estimate spreads generalized rows " +
      "evenly.",
  });
  if (overview.releases.length === 0) {
    clear(root, head, noRelease("An analyst works with the published file. Publish one, and ask it."));
    return;
  }
  const page = {
    context,
    release: chosenRelease(overview.releases),
    answer: h("div", { class: "stack", id: "query-answer" }),
    measured: h("div", { class: "stack", id: "measured" }),
  };
  const sql = h("textarea", {
    class: "input mono sql-input",
    rows: 2,
    spellcheck: "false",
    autocomplete: "off",
    value: page.release.examples.at(-1),
  });
  const examples = h("div", { class: "row" });
  const warn = h("div", {});
  const told = () => {
    clear(
      warn,
      cautions(page.release.cautions),
      !page.release.comparable &&
        notice("The original of this release is not the table that is loaded: the truth is not known.", "warning"),
    );
    clear(
      examples,
      h("span", { class: "muted small" }, "For example:"),
      page.release.examples.map((each) =>
        button(each, {
          small: true,
          tone: "quiet",
          onClick: () => {
            sql.value = each;
            ask();
          },
        }),
      ),
    );
  };
  const form = h(
    "form",
    {
      class: "stack",
      novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          ask();
        },
      },
    },
    releaseField(overview.releases, (found) => {
      page.release = found;
      sql.value = found.examples.at(-1);
      clear(page.answer);
      told();
      ask({ unasked: true });
      measure(page);
    }),
    field({
      label: "Query",
      name: "sql",
      control: sql,
      hint: "SELECT aggregates FROM release WHERE … GROUP BY …: COUNT, SUM, AVG, MIN, MAX. Ctrl and Enter ask it.",
    }),
    examples,
    h("p", { class: "form-error", role: "alert" }),
    h("div", { class: "row" }, button("Ask", { tone: "primary", type: "submit" })),
  );
  sql.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      ask();
    }
  });

  let turn = 0;

  async function ask({ unasked = false } = {}) {
    const mine = ++turn; // an answer that comes after a later question is not shown
    clearErrors(form);
    page.answer.setAttribute("aria-busy", "true");
    try {
      const found = await post(
        "/api/analyst/query",
        { release: page.release.name, sql: sql.value },
        { signal: context.signal },
      );
      if (mine !== turn) return;
      clear(page.answer, answerOf(found));
      if (!unasked) context.announce(`${found.rows.length} ${found.rows.length === 1 ? "answer" : "answers"}.`);
    } catch (error) {
      if (context.signal.aborted || mine !== turn) return;
      clear(page.answer);
      if (unasked) return;
      showError(form, error.field ? error : Object.assign(error, { field: "sql" }));
    } finally {
      page.answer.removeAttribute("aria-busy");
    }
  }

  clear(root, head, warn, panel({ title: "Ask" }, form, page.answer), page.measured);
  told();
  await Promise.all([ask({ unasked: true }), measure(page)]);
}

function answerOf(found) {
  const shown = found.rows.slice(0, 500);
  const named = (row) => found.columns.map((name) => row.group[name] ?? "NULL").join(", ");
  const columns = [
    ...found.columns.map((name) => ({
      key: name,
      title: name,
      head: true,
      render: (row) => row.group[name] ?? h("span", { class: "muted" }, "NULL"),
    })),
    {
      key: "aggregate",
      title: "aggregate",
      head: found.columns.length === 0,
      render: (row) => h("span", { class: "mono" }, row.aggregate),
    },
    found.truth && { key: "truth", title: "truth", number: true, render: (row) => exact(row.truth) },
    { key: "estimate", title: "estimate", number: true, render: (row) => exact(row.estimate) },
    { key: "lower", title: "surely from", number: true, render: (row) => exact(row.lower) },
    { key: "upper", title: "to", number: true, render: (row) => exact(row.upper) },
    found.truth && { key: "error", title: "error", number: true, render: (row) => relative(row) },
    found.truth && {
      key: "holds",
      title: "within the bounds",
      render: (row) => (row.holds === null ? "–" : row.holds ? badge("yes", "good") : badge("no", "bad")),
    },
  ].filter(Boolean);
  return [
    found.warnings.map((each) => notice(each, "plain")),
    intervals(shown.slice(0, MOST_INTERVALS), named, found.truth),
    h(
      "div",
      { class: "scroll-x whole-words answers", tabindex: "0", role: "region", aria: { label: "Answers" } },
      table({ caption: "Answers", hideCaption: true, rows: shown, columns, empty: "No row meets the condition." }),
    ),
    found.rows.length > shown.length &&
      h("p", { class: "muted small" }, `… and ${number(found.rows.length - shown.length)} more.`),
    found.sql &&
      h(
        "details",
        {},
        h("summary", {}, "The query as it was rewritten"),
        h("pre", { class: "mono sql", tabindex: "0" }, found.sql),
      ),
  ];
}

/** Each answer on a line: the sure bounds as a band, the estimate as a stroke, the truth as a point. */
function intervals(rows, named, truth) {
  const drawn = rows.filter((row) => row.lower !== null && row.upper !== null);
  if (drawn.length === 0 || new Set(drawn.map((row) => row.aggregate)).size > 1) return null;
  const low = Math.min(0, ...drawn.map((row) => row.lower));
  const high = Math.max(...drawn.map((row) => row.upper), ...drawn.map((row) => row.truth ?? 0), low + 1e-9);
  const place = (value) => `${(100 * (value - low)) / (high - low)}%`;
  return h(
    "div",
    {
      class: "intervals",
      role: "img",
      aria: { label: "Bounds, estimate and truth of each answer; the table below has the numbers." },
    },
    h(
      "p",
      { class: "legend" },
      h("span", {}, h("span", { class: "key band" }), "sure bounds"),
      h("span", {}, h("span", { class: "key stroke" }), "estimate"),
      truth && h("span", {}, h("span", { class: "key dot" }), "truth"),
    ),
    drawn.map((row) =>
      h(
        "div",
        { class: "interval" },
        h("span", { class: "name" }, named(row) || row.aggregate),
        h(
          "span",
          { class: "track" },
          h("span", {
            class: "band",
            style: { left: place(row.lower), width: `${(100 * (row.upper - row.lower)) / (high - low)}%` },
          }),
          row.estimate !== null && h("span", { class: "stroke", style: { left: place(row.estimate) } }),
          row.truth !== null && h("span", { class: "dot", style: { left: place(row.truth) } }),
        ),
      ),
    ),
  );
}

function exact(value) {
  if (value === null || value === undefined) return "–";
  return Number.isInteger(value) ? number(value) : significant(value, 6);
}

function relative(row) {
  if (row.truth === null || row.estimate === null) return "–";
  if (row.truth === 0) return row.estimate === 0 ? "0%" : "–";
  return share(Math.abs(row.estimate - row.truth), Math.abs(row.truth));
}

async function measure(page) {
  if (!page.release.comparable) {
    clear(page.measured);
    return;
  }
  const { release } = page;
  const found = await runJob(
    page.measured,
    "Measuring the release",
    () => post("/api/analyst/jobs", { release: page.release.name }, { signal: page.context.signal }),
    { signal: page.context.signal },
  );
  if (found === null || page.release !== release) return;
  const by = Object.fromEntries(found.metrics.map((each) => [each.name, each]));
  clear(
    page.measured,
    panel(
      { title: "What the release keeps", note: "Measured against the original." },
      facts([
        { label: "rows", value: number(found.rows - found.suppressed) },
        { label: "suppressed", value: `${number(found.suppressed)} (${share(found.suppressed, found.rows)})` },
        by.loss && { label: "loss", value: metric(by.loss.value) },
        by.granularity && { label: "granularity", value: metric(by.granularity.value) },
        by.classes && { label: "classes", value: metric(by.classes.value) },
      ]),
      found.warnings.map((each) => notice(each, "warning")),
      h(
        "div",
        { class: "split even" },
        bars({
          width: plotWidth(),
          rows: Object.entries(found.loss).map(([label, value]) => ({ label, value })),
          format: (value) => value.toFixed(3),
          caption: "Loss of each quasi-identifier: 0 keeps every value, 1 none",
          nameTitle: "column",
        }),
        h(
          "div",
          { class: "scroll-x whole-words metrics", tabindex: "0", role: "region", aria: { label: "Metrics" } },
          table({
            caption: "Metrics",
            hideCaption: true,
            dense: true,
            rows: found.metrics,
            columns: [
              {
                key: "title",
                title: "metric",
                head: true,
                render: (each) => h("span", { title: each.definition }, each.title),
              },
              { key: "value", title: "value", number: true, render: (each) => metric(each.value) },
              { key: "unit", title: "unit" },
              { key: "better", title: "better", render: (each) => (each.better === "neither" ? "" : each.better) },
            ],
          }),
        ),
      ),
    ),
    distributions(found.distributions),
  );
}

function metric(value) {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? number(value) : significant(value, 4);
}

function distributions(list) {
  const one = (found) =>
    h(
      "div",
      { class: "distribution" },
      h("h3", {}, found.attribute, found.level > 0 && badge(`at level ${found.level}`, "plain")),
      bars({
        rows: found.values.map((value, i) => ({
          label: value ?? "NULL",
          value: found.before[i],
          second: found.after[i],
        })),
        series: ["before", "after"],
        width: plotWidth(),
        format: (value) => number(Math.round(value)),
        nameTitle: found.attribute,
        caption: `Rows by ${found.attribute}, before and after`,
      }),
    );
  return panel(
    {
      title: "Distributions before and after",
      note:
        "After: generalized rows are spread evenly over the values that they cover. Suppressed rows are in " +
        "neither bar of the release.",
    },
    h("div", { class: "distributions" }, list.map(one)),
  );
}
