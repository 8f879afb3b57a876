// Analyst's view: queries with truth, estimate and bounds; metrics; distributions before and after.

import { query } from "../api.js";
import { answers } from "../analyst/answers.js";
import { distributions, metrics } from "../analyst/utility.js";
import { field } from "../components/field.js";
import { clearErrors, form, showError } from "../components/form.js";
import { runJob } from "../components/job.js";
import { composition, panel, screenHead } from "../components/parts.js";
import { scriptActions } from "../components/script-actions.js";
import { clear, h } from "../dom.js";
import { draftOf, keepDraft } from "../drafts.js";
import { count } from "../format.js";
import { chooseRelease } from "../release/choice.js";
import { latest } from "../turns.js";

export async function show(root, context) {
  const { signal } = context;
  const head = screenHead({
    title: "Analyst's view",
    lead:
      "Query the release as an analyst would. The bounds are certain; the estimate spreads generalized rows " +
      "evenly.",
  });
  const chosen = await chooseRelease(root, {
    path: "/api/analyst",
    head,
    none: "An analyst works with the published file. Publish one to query it.",
    unknown: "true answers are not known",
    signal,
    onChange: (release) => begin(release),
  });
  if (chosen === null) return;
  const query = queryForm(chosen, context);
  const utility = h("div", { class: "stack", id: "measured" });
  const measure = measuring(utility, signal);
  const begin = (release) => Promise.all([query.begin(release), measure(release)]);
  clear(root, composition([head, panel({ label: "Run" }, query)], chosen.warnings, query.answer, utility));
  await begin(chosen.release);
}

/** The form of a query; `.answer` is the place of its answers, `.begin(release)` runs an example query. */
function queryForm({ choice }, { signal, announce }) {
  const answer = h("div", { class: "stack", id: "query-answer" });
  const examples = h("div", { class: "examples" });
  const turn = latest();
  let release = null;
  const sql = h("textarea", {
    class: "input mono sql-input",
    rows: 4,
    spellcheck: "false",
    autocomplete: "off",
    on: {
      input: () => keepDraft(`query of ${release.name}`, sql.value),
      keydown: (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        element.send();
      },
    },
  });
  const element = form(
    {
      send: "Run",
      actions: scriptActions("query", () => ({ release: release.name, sql: sql.value }), {
        onError: (error) => showError(element, error),
        signal,
      }),
      onSend: async () => {
        const found = await ask();
        if (found !== null) announce(`${count(found.rows.length, "answer")}.`);
      },
    },
    choice,
    field({
      label: "Query",
      name: "sql",
      control: sql,
      hint: "SELECT aggregates FROM release WHERE … GROUP BY …: COUNT, SUM, AVG, MIN, MAX. Ctrl+Enter runs it.",
    }),
    examples,
  );

  /** Send the query and show the answer; null if a later query was sent meanwhile. */
  async function ask() {
    const isLast = turn();
    answer.setAttribute("aria-busy", "true");
    try {
      const found = await query("/api/analyst/query", { release: release.name, sql: sql.value }, { signal });
      if (!isLast()) return null;
      clear(answer, answers(found, { isWhole: !/\bwhere\b/i.test(sql.value) }));
      return found;
    } catch (error) {
      if (!isLast()) return null;
      clear(answer);
      throw Object.assign(error, { field: error.field ?? "sql" });
    } finally {
      answer.removeAttribute("aria-busy");
    }
  }

  const example = (words) =>
    h(
      "button",
      {
        class: "as-link mono",
        type: "button",
        on: {
          click: () => {
            sql.value = words;
            keepDraft(`query of ${release.name}`, words);
            element.send();
          },
        },
      },
      words,
    );
  return Object.assign(element, {
    answer,
    begin(chosen) {
      release = chosen;
      sql.value = draftOf(`query of ${release.name}`) ?? release.examples.at(-1);
      clear(examples, h("span", { class: "muted small" }, "For example:"), release.examples.map(example));
      clear(answer);
      clearErrors(element);
      return ask().catch(() => {}); // an automatic query: without an answer the screen begins empty
    },
  });
}

/** Measure a release in `place` if its original is known. */
function measuring(place, signal) {
  const turn = latest();
  return async (release) => {
    const isLast = turn();
    clear(place);
    if (!release.comparable) return;
    const start = () => query("/api/analyst/jobs", { release: release.name }, { signal });
    const found = await runJob(place, "Measuring the release", start, { signal });
    if (found !== null && isLast()) clear(place, metrics(found), distributions(found));
  };
}
