// The form of a release: its model, its requirement, the model's options, and its destination.

import { post } from "../api.js";
import { clear, h } from "../dom.js";
import { field, segmented, select } from "../components/field.js";
import { jobForm, showError } from "../components/form.js";
import { chosenOptions, optionField } from "../components/option-field.js";
import { notice, panel } from "../components/parts.js";
import { scriptActions } from "../components/script-actions.js";
import { draftForm, keepDraft } from "../drafts.js";
import { verdict } from "./audit.js";
import { requestOfChoice, chosenNode } from "./chosen-node.js";
import { destination, freeName } from "./destination.js";
import { earlierReleases } from "./earlier.js";
import { requirement } from "./requirement.js";

/**
 * The panel with the form; `notes` returns notes on a model, `onPublished({release, audit})`. `.listed()` reads the
 * overview's releases again; `.outdate(words)` disables publishing with a reason, null enables it.
 */
export function releaseForm({ overview, notes, signal, onPublished }) {
  const { models, choice } = overview;
  const columns = { sensitive: overview.sensitive, quasiIdentifiers: overview.quasi_identifiers };
  const words = h("p", { class: "muted" });
  const options = h("div", { class: "form columns" });
  const unbound = notice(
    `Negotiated with ${overview.requested_levels}. This model ignores these levels; they apply to the chosen node.`,
    "warning",
  );
  const model = modelSelect(models, () => fit());
  const requirementForm = requirement(overview);
  const target = destination(overview.database);
  const earlier = earlierReleases(overview.quasi_identifiers);
  let suppressed = "drop";
  const policy = segmented({
    label: "Suppressed rows are",
    options: [
      ["drop", "not written"],
      ["star", "starred"],
    ],
    value: suppressed,
    onChange: (value) => {
      suppressed = value;
    },
  });
  let order = overview.row_order;
  const ordering = segmented({
    label: "Rows are",
    options: [
      ["sorted", "sorted by their values"],
      ["random", "shuffled"],
    ],
    value: order,
    onChange: (value) => {
      order = value;
    },
  });
  // Input is kept until another request is negotiated.
  const draft = `publish ${JSON.stringify([overview.k, overview.l, overview.max_suppressed, choice?.levels])}`;
  let outdated = null; // the reason why publishing is disabled
  const work = h("div", { class: "stack tight", id: "publish-work", role: "status" });
  const chosen = () => models.find((each) => each.name === model.value);
  const element = jobForm(
    {
      send: "Publish",
      title: () => `Publishing ${body().name ?? body().table}`,
      place: work,
      below: work,
      tray: true,
      actions: scriptActions("release", () => body(), { onError: (error) => showError(element, error), signal }),
      check: () => requirementForm.check(chosen()),
      start: () => post("/api/publish/jobs", body(), { signal }),
      signal,
      onResult: (found) => {
        clear(
          work,
          notice(
            [
              h("strong", {}, `${found.release.name}: `),
              verdict(found),
              " ",
              h("a", { href: "#audit", on: { click: toAudit } }, "See the audit and the files"),
            ],
            found.audit.passed ? "good" : "bad",
          ),
        );
        work.scrollIntoView({ block: "nearest" });
        keepDraft(draft, null);
        onPublished(found);
        target.propose(freeName(overview.releases));
      },
    },
    field({ label: "Model", name: "model", control: model }),
    words,
    unbound,
    requirementForm.element,
    options,
    target.parts,
    policy,
    ordering,
    earlier,
    target.overwrite,
  );

  /** Show the fields of the selected model. */
  function fit() {
    const form = chosen();
    words.textContent = form.text;
    unbound.hidden = form.takes_levels || !overview.requested_levels;
    requirementForm.fit(form);
    policy.hidden = !form.takes_suppression;
    element.sender.disabled = outdated !== null || (form.takes_levels && (!choice || choice.stale));
    element.sender.title = outdated ?? "";
    target.offer(form.formats);
    clear(
      options,
      form.fields.map((each) => optionField(each, columns)),
    );
    clear(
      notes,
      form.takes_levels && chosenNode(choice, overview.sensitive, overview.criterion_kinds),
      form.permuted &&
        notice(
          "Quasi-identifiers are unchanged: membership and the person of each row are not " +
            "protected. Only the assignment of sensitive values within a group is hidden.",
          "warning",
        ),
    );
  }

  function body() {
    const form = chosen();
    return {
      model: form.name,
      ...target.body(),
      ...(form.takes_levels ? requestOfChoice(choice) : requirementForm.body(form)),
      suppressed_rows: form.takes_suppression ? suppressed : "drop",
      row_order: order,
      previous_releases: earlier.names(),
      options: chosenOptions(options),
    };
  }

  target.propose(freeName(overview.releases));
  model.value = choice ? "negotiated" : "full-domain";
  fit();
  draftForm(draft, element);
  const surface = panel({ label: "The release" }, element);
  surface.listed = () => earlier.offer(overview.releases);
  surface.outdate = (words) => {
    outdated = words;
    fit();
  };
  surface.listed();
  return surface;
}

function toAudit(event) {
  event.preventDefault();
  const heading = document.querySelector("#audit h2");
  heading.tabIndex = -1;
  heading.focus();
  heading.scrollIntoView({ block: "center" });
}

function modelSelect(models, onChange) {
  const group = (label, list) =>
    h(
      "optgroup",
      { label },
      list.map((each) => h("option", { value: each.name }, each.title)),
    );
  const control = select([], { name: "model", on: { change: onChange } });
  control.append(
    group(
      "Models",
      models.filter((each) => each.main),
    ),
    group(
      "More models",
      models.filter((each) => !each.main),
    ),
  );
  return control;
}
