// Keeps focus out of the body: when the focused control is removed, its replacement gets the focus.

const CONTROLS = "button, a[href], input, select, textarea, [tabindex]";

/** Watch `root`, whose parts are drawn again. */
export function keepFocus(root) {
  let last = null; // {element, around, like} of the last focused element
  document.addEventListener("focusin", ({ target }) => {
    if (!root.contains(target)) {
      last = null;
      return;
    }
    const around = [];
    for (let each = target.parentElement; each && each !== document.body; each = each.parentElement) around.push(each);
    last = { element: target, around, like: likeness(target) };
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (!target.closest?.(CONTROLS)) last = null; // a click outside all controls
  });
  new MutationObserver(() => {
    if (last === null || last.element.isConnected || document.activeElement !== document.body) return;
    if (document.querySelector("dialog[open]")) return;
    const place = last.around.find((each) => each.isConnected);
    if (!place) return;
    const same = [...place.querySelectorAll(CONTROLS)].find((each) => likeness(each) === last.like && can(each));
    const heading = place.closest(".panel, .screen, section")?.querySelector("h1, h2, h3");
    const found = same ?? heading ?? place;
    if (!same && !found.hasAttribute("tabindex")) found.tabIndex = -1;
    found.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true });
}

function likeness(element) {
  const name = element.getAttribute("aria-label") ?? (element.matches("button, a") ? element.textContent : "");
  return [element.tagName, element.getAttribute("name"), name, element.dataset.key].join("|");
}

function can(element) {
  return !element.disabled && element.getClientRects().length > 0;
}
