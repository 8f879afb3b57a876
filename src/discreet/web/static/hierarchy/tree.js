// A hierarchy as a tree: collapsible, with rows of each value; values are selected by keys or pointer and dragged.

import { clear, h } from "../dom.js";
import { count, number, share } from "../format.js";
import { icon } from "../icons.js";

const STEP = 200;

/**
 * Build the rows of a tree from the server's levels. A value without siblings in its group over several levels is one
 * row with all of them: `low` to `high`.
 */
function forest(levels) {
  const top = levels.length - 1;
  const children = levels.map((level) => level.labels.map(() => []));
  levels.forEach((level, at) => level.parents.forEach((parent, place) => children[at + 1][parent].push(place)));
  const make = (level, place) => {
    let low = level;
    let at = place;
    while (
      low > 0 &&
      children[low][at].length === 1 &&
      level < top &&
      levels[low - 1].labels[children[low][at][0]] === levels[level].labels[place]
    ) {
      at = children[low][at][0];
      low -= 1;
    }
    return {
      key: `${level}:${levels[level].labels[place]}`,
      label: levels[level].labels[place],
      low,
      high: level,
      isTop: level === top,
      rows: levels[level].rows[place],
      leaves: levels[level].leaves[place],
      get children() {
        const found = low === 0 ? [] : children[low][at].map((child) => make(low - 1, child));
        Object.defineProperty(this, "children", { value: found });
        return found;
      },
    };
  };
  return levels.length === 0 ? null : make(top, 0);
}

/** Return the level at which all given rows have a value; null if there is none. */
export function commonLevel(rows) {
  const low = Math.max(...rows.map((row) => row.low));
  const high = Math.min(...rows.map((row) => row.high));
  return low <= high ? low : null;
}

/**
 * A tree. `onSelection(rows)`, `onRename(row)`, `onDrop(rows, target)`, `onGroup()`; the element has `.show(levels,
 * rows)` and `.selected`.
 */
export function tree({ label, onSelection, onRename, onDrop, onGroup }) {
  const open = new Set();
  const more = new Map();
  let root = null;
  let all = 0;
  let filter = "";
  let chosen = new Map();
  let current = null;
  let anchor = null;
  const list = h("div", { class: "tree", role: "tree", aria: { label, multiselectable: true } });
  list.addEventListener("keydown", (event) => keys(event));

  function visible() {
    return [...list.querySelectorAll("[role=treeitem]")];
  }

  function draw({ focus = false } = {}) {
    const lines = [];
    const wanted = filter.trim().toLowerCase();
    const matches = (row) => row.label.toLowerCase().includes(wanted) || row.children.some(matches);
    const walk = (row, depth, place, size) => {
      const isOpen = row.children.length > 0 && (wanted !== "" || open.has(row.key));
      lines.push(line(row, depth, isOpen, place, size));
      if (!isOpen) return;
      const kept =
        wanted === "" || row.label.toLowerCase().includes(wanted) ? row.children : row.children.filter(matches);
      const limit = more.get(row.key) ?? STEP;
      kept.slice(0, limit).forEach((child, i) => walk(child, depth + 1, i + 1, kept.length));
      if (kept.length > limit) {
        lines.push(
          h(
            "div",
            { class: "tree-more", style: { "--depth": depth + 1 } },
            h(
              "button",
              {
                class: "button small quiet",
                type: "button",
                on: {
                  click: () => {
                    more.set(row.key, limit + STEP);
                    draw();
                  },
                },
              },
              `Show ${number(Math.min(STEP, kept.length - limit))} more of ${number(kept.length)}`,
            ),
          ),
        );
      }
    };
    if (root !== null && (wanted === "" || matches(root))) walk(root, 1, 1, 1);
    clear(list, lines.length > 0 ? lines : h("p", { class: "muted pad" }, "No value contains this text."));
    const items = visible();
    const target = items.find((item) => item.dataset.key === current) ?? items[0];
    if (target) {
      target.tabIndex = 0;
      if (focus) target.focus();
    }
  }

  function line(row, depth, isOpen, place, size) {
    const has = row.children.length > 0;
    const item = h(
      "div",
      {
        class: "tree-row",
        role: "treeitem",
        tabindex: "-1",
        draggable: row.isTop ? null : "true",
        dataset: { key: row.key },
        style: { "--depth": depth },
        aria: {
          level: depth,
          posinset: place,
          setsize: size,
          expanded: has ? isOpen : null,
          selected: row.isTop ? null : chosen.has(row.key),
          label: `${row.label}, ${count(row.rows, "row")}${has ? `, ${count(row.leaves, "value")}` : ""}`,
        },
      },
      h("span", { class: "twist", aria: { hidden: true } }, has ? icon(isOpen ? "down" : "right") : null),
      h("span", { class: "tree-label" }, row.label),
      h(
        "span",
        { class: "tree-level small" },
        row.low === row.high ? `level ${row.high}` : `levels ${row.low}–${row.high}`,
      ),
      h("span", { class: "tree-count number" }, number(row.rows)),
      h(
        "span",
        { class: "tree-bar", aria: { hidden: true } },
        h("span", { style: { width: `${Math.max(row.rows > 0 ? 1 : 0, (100 * row.rows) / Math.max(1, all))}%` } }),
      ),
    );
    item.row = row;
    item.addEventListener("click", (event) => {
      current = row.key;
      if (event.target.closest(".twist") && has) toggle(row);
      else if (row.isTop) toggle(row);
      else pick(row, { extend: event.shiftKey, add: true });
    });
    item.addEventListener("dblclick", () => {
      if (!row.isTop && row.low > 0) onRename(row);
    });
    item.addEventListener("dragstart", (event) => {
      if (!chosen.has(row.key)) pick(row, {});
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", row.label);
      list.classList.add("dragging");
    });
    item.addEventListener("dragend", () => list.classList.remove("dragging"));
    item.addEventListener("dragover", (event) => {
      if (chosen.size > 0 && !chosen.has(row.key)) {
        event.preventDefault();
        item.classList.add("over");
      }
    });
    item.addEventListener("dragleave", () => item.classList.remove("over"));
    item.addEventListener("drop", (event) => {
      event.preventDefault();
      item.classList.remove("over");
      onDrop([...chosen.values()], row);
    });
    return item;
  }

  function toggle(row, wanted = !open.has(row.key)) {
    open[wanted ? "add" : "delete"](row.key);
    draw({ focus: true });
  }

  function pick(row, { extend = false, add = false }) {
    if (extend && anchor !== null) {
      const items = visible();
      const from = items.findIndex((item) => item.dataset.key === anchor);
      const to = items.findIndex((item) => item.dataset.key === row.key);
      for (const item of items.slice(Math.min(from, to), Math.max(from, to) + 1)) {
        if (!item.row.isTop && commonLevel([...chosen.values(), item.row]) !== null) chosen.set(item.row.key, item.row);
      }
    } else if (add && chosen.has(row.key)) {
      chosen.delete(row.key);
    } else {
      const next = new Map(add ? [...chosen, [row.key, row]] : [[row.key, row]]);
      chosen = commonLevel([...next.values()]) === null ? new Map([[row.key, row]]) : next;
      anchor = row.key;
    }
    for (const item of visible())
      if (!item.row.isTop) item.setAttribute("aria-selected", String(chosen.has(item.row.key)));
    onSelection([...chosen.values()]);
  }

  function keys(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.target !== item) return;
    const items = visible();
    const at = items.indexOf(item);
    const { row } = item;
    const go = (place) => {
      const target = items[place];
      if (!target) return;
      item.tabIndex = -1;
      target.tabIndex = 0;
      target.focus();
      current = target.dataset.key;
      if (event.shiftKey && !target.row.isTop) {
        if (anchor === null && !row.isTop) pick(row, { add: false });
        pick(target.row, { extend: true });
      }
    };
    const actions = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(items.length - 1),
      ArrowRight: () => {
        if (row.children.length === 0) return;
        if (!open.has(row.key)) toggle(row, true);
        else go(at + 1);
      },
      ArrowLeft: () => {
        if (open.has(row.key)) toggle(row, false);
        else
          go(
            items
              .slice(0, at)
              .findLastIndex(
                (each) => Number(each.getAttribute("aria-level")) < Number(item.getAttribute("aria-level")),
              ),
          );
      },
      " ": () => {
        if (row.isTop) toggle(row);
        else pick(row, { add: true, extend: event.shiftKey });
      },
      Enter: () => {
        if (row.isTop) toggle(row);
        else if (chosen.size > 0) onGroup();
        else pick(row, { add: true });
      },
      F2: () => {
        if (!row.isTop && row.low > 0) onRename(row);
      },
      Escape: () => {
        chosen = new Map();
        draw({ focus: true });
        onSelection([]);
      },
    };
    if (actions[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      current = row.key;
      actions[event.key]();
    }
  }

  list.show = (levels, rows) => {
    const first = root === null;
    root = forest(levels);
    all = rows;
    chosen = new Map();
    anchor = null;
    if (root !== null) {
      open.add(root.key);
      if (first && root.children.length <= 12)
        for (const child of root.children)
          if (child.children.length > 0 && child.children.length <= 12) open.add(child.key);
    }
    draw();
    onSelection([]);
  };
  list.reveal = (level, label) => {
    open.add(`${level}:${label}`);
    current = `${level}:${label}`;
    draw({ focus: true });
  };
  list.find = (words) => {
    filter = words;
    draw();
  };
  list.expandAll = (wanted) => {
    const walk = (row) => {
      if (row.children.length > 0) {
        open[wanted || row.isTop ? "add" : "delete"](row.key);
        row.children.forEach(walk);
      }
    };
    if (root) walk(root);
    draw();
  };
  list.choose = (rows) => {
    chosen = new Map(rows.map((row) => [row.key, row]));
    draw();
    onSelection(rows);
  };
  return list;
}

/** Return "12.3% of the rows" for a list of rows of the tree. */
export function shareOf(rows, all) {
  return share(
    rows.reduce((sum, row) => sum + row.rows, 0),
    all,
  );
}
