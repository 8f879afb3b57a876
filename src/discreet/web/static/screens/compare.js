// Compare: saved answers, releases and models next to each other, and the original paired with one of them.

import { cancel, errorText, follow, get, put, query, remove } from "../api.js";
import { candidateTable } from "../compare/candidates.js";
import { paired } from "../compare/paired-rows.js";
import { Scatter } from "../compare/scatter.js";
import { sentenceOf } from "../compare/sentence.js";
import { button, empty, linkButton } from "../components/parts.js";
import { progress } from "../components/progress.js";
import { toastError } from "../components/status.js";
import { clear, h } from "../dom.js";
import { count } from "../format.js";

export async function show(root, context) {
  const { signal } = context;
  const found = await get("/api/compare", { signal });
  if (found.request === null || found.candidates.length === 0) {
    clear(root, h("h1", { class: "sentence" }, "Compare"), nothing(root, found, context));
    return null;
  }
  const screen = new Comparison(root, context);
  await screen.begin(found);
  return { leave: () => screen.close(), changed: (parts) => screen.outdate(parts.length > 0) };
}

/** The screen if nothing was saved or published; every model can still be run. */
function nothing(root, found, context) {
  const actions = [linkButton("Go to Negotiate", "#/negotiate", { tone: "primary" })];
  if (found.request !== null) {
    const work = h("div", {});
    const again = button("Try every model", {
      onClick: () => {
        const screen = new Comparison(root, context);
        screen.begin(found).then(() => screen.measure(true));
      },
    });
    actions.push(again, work);
  }
  return empty({
    title: "Nothing to compare yet",
    text: "Save an answer by name in Negotiate, or publish a release, to compare them here.",
    actions,
  });
}

/** One visit of the screen. */
class Comparison {
  constructor(root, context) {
    Object.assign(this, { root, context, found: null, chosen: null });
    this.line = h("p", { class: "compare-of" });
    this.sentence = h("h1", { class: "sentence" });
    this.work = h("div", { class: "compare-work", role: "status" });
    this.table = h("div", { class: "compare-table" });
    this.words = h("p", { class: "muted small compare-words" });
    this.tray = h("div", { class: "compare-tray" });
    this.rows = paired({ context, onWhich: () => this.drawTray() });
    this.scatter = new Scatter({ onChoose: (row) => this.choose(row) });
    this.tryAll = h("button", { class: "as-link", type: "button", on: { click: () => this.measure(true) } });
    this.tryAll.textContent = "Try every model";
    clear(
      root,
      h(
        "div",
        { class: "compare-top" },
        h("div", { class: "compare-left" }, this.line, this.sentence, this.scatter.element),
        h(
          "div",
          { class: "compare-right" },
          this.table,
          h(
            "div",
            { class: "compare-acts" },
            h("span", { class: "muted small" }, "Bold is the best of its column."),
            this.tryAll,
          ),
          this.work,
          this.words,
        ),
      ),
      this.rows.element,
      this.tray,
    );
  }

  async begin(found) {
    this.take(found);
    const wanted = this.context.params.get("of");
    this.choose(found.candidates.find((row) => row.letter === wanted) ?? found.candidates[0] ?? null);
    this.dots();
    if (found.missing > 0) this.measure(false);
  }

  /** The dots of all nodes, if the lattice is evaluated; otherwise only the letters are drawn. */
  async dots() {
    try {
      const body = { request: this.found.request };
      this.scatter.setDots(await query("/api/compare/nodes", body, { signal: this.context.signal }));
      this.drawWords();
    } catch (error) {
      if (error.name !== "AbortError" && error.kind !== "conflict" && error.kind !== "not-evaluated") toastError(error);
    }
  }

  take(found) {
    this.found = found;
    const saved = found.candidates.filter((row) => row.kind === "answer").length;
    const released = found.candidates.filter((row) => row.kind === "release").length;
    const tried = found.candidates.length - saved - released;
    const parts = [
      saved > 0 && count(saved, "saved answer"),
      released > 0 && count(released, "release"),
      tried > 0 && count(tried, "model tried", "models tried"),
    ].filter(Boolean);
    clear(this.line, h("b", {}, "Compare"), ` ${parts.join(", ")}. Current request: ${found.asked}`);
    this.sentence.textContent = sentenceOf(found.candidates);
    clear(
      this.table,
      candidateTable(found, this.chosen, {
        onChoose: (row) => this.choose(row),
        onForget: (row) => this.forget(row),
      }),
    );
    this.scatter.setLetters(found.candidates, this.chosen);
    this.drawWords();
  }

  drawWords() {
    const some = this.scatter.dots?.nodes > 0;
    this.words.textContent = some
      ? "Each dot is a node of the lattice. Lower is safer, further right keeps more detail. Of the dots that " +
        "meet the current request, those on the dark line are not dominated; other models may be better. " +
        "The detail of a dot ignores suppression, that of a letter includes it."
      : "Lower is safer, further right keeps more detail. Nodes appear as dots once Negotiate has evaluated them.";
  }

  choose(row) {
    this.chosen = row === null ? null : row.letter;
    this.context.updateLocation({ of: this.chosen });
    for (const line of this.table.querySelectorAll("[data-letter]"))
      line.classList.toggle("chosen", line.dataset.letter === this.chosen);
    for (const each of this.table.querySelectorAll("[aria-pressed]"))
      each.setAttribute("aria-pressed", String(each.dataset.of === this.chosen));
    this.scatter.setLetters(this.found.candidates, this.chosen);
    this.rows.show(row);
    this.drawTray();
  }

  /** Disable publishing while data of the screen have changed elsewhere. */
  outdate(is) {
    this.isOutdated = is;
    this.drawTray();
  }

  drawTray() {
    const row = this.found.candidates.find((each) => each.letter === this.chosen) ?? null;
    const publish = row?.kind === "answer" && !row.stale && !this.isOutdated;
    clear(
      this.tray,
      this.rows.status,
      this.rows.actions,
      h("span", { class: "grow" }),
      h("a", { class: "text-link", href: "#/negotiate" }, "Back to Negotiate"),
      publish &&
        button(`Publish ${row.letter}`, {
          tone: "primary",
          onClick: () => this.publish(row),
        }),
    );
  }

  /** Choose a saved answer for publication, and go there. */
  async publish(row) {
    const { context } = this;
    try {
      await put("/api/negotiate/choice", { request: row.request, levels: row.levels });
      context.state.refresh().catch(() => {});
      context.go("publish");
    } catch (error) {
      toastError(error);
    }
  }

  async forget(row) {
    try {
      await remove(`/api/compare/saved/${encodeURIComponent(row.name)}`);
      const found = await get("/api/compare", { signal: this.context.signal });
      this.take(found);
      this.choose(found.candidates[0] ?? null);
    } catch (error) {
      toastError(error);
    }
  }

  /** Measure candidates without metrics; rows appear as they finish. */
  async measure(everyModel) {
    if (this.busy) return;
    this.busy = true;
    this.tryAll.setAttribute("aria-disabled", "true");
    const { signal } = this.context;
    let job = null;
    const bar = progress(everyModel ? "Trying every model" : "Measuring", { onCancel: () => job && cancel(job) });
    clear(this.work, bar.element);
    try {
      ({ job } = await query("/api/compare/jobs", { every_model: everyModel }, { signal }));
      let reported = 0;
      const tell = async (state) => {
        bar.tell(state);
        if (Date.now() - reported < 900) return;
        reported = Date.now();
        this.take(await get("/api/compare", { signal }));
      };
      await follow(job, (state) => void tell(state).catch(() => {}), { signal });
      clear(this.work);
    } catch (error) {
      if (signal.aborted) return;
      clear(this.work, h("p", { class: "small" }, error.name === "AbortError" ? "Stopped." : errorText(error)));
    } finally {
      this.busy = false;
      this.tryAll.removeAttribute("aria-disabled");
    }
    if (signal.aborted) return;
    this.take(await get("/api/compare", { signal }));
    if (this.chosen === null) this.choose(this.found.candidates[0] ?? null);
    this.context.announce("Everything is measured.");
  }

  close() {
    this.rows.close();
    this.scatter.close();
  }
}
