// The user's place: the screen, its parameters (an attribute, a release, a tab), and the scroll position.

const RESTED = 150; // milliseconds without scrolling, after which the place is stored
const RETURNING = 20_000; // milliseconds in which a page may grow to its old length
let returning = false; // a screen is being drawn or a place restored: its stored place must not be overwritten
let stopReturning = () => {};
let resting = 0;

/** Return the screen's name in the address, and its parameters. */
export function pageLocation() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: path.split("/")[0], params: new URLSearchParams(query) };
}

/** Store a screen's parameters in the address by name; null removes one. Back and reload restore them. */
export function updateLocation(changes) {
  const { name, params } = pageLocation();
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") params.delete(key);
    else params.set(key, value);
  }
  const query = params.toString();
  const hash = `#/${name}${query ? `?${query}` : ""}`;
  if (hash !== location.hash) history.replaceState(history.state, "", hash);
}

/** Mark the start of drawing a screen: until `arrived`, scrolling comes from emptying the page and is not stored. */
export function arriving() {
  stopReturning();
  clearTimeout(resting);
  returning = true;
}

/** Mark a screen as drawn; restore the scroll position of a new one. */
export function arrived(isAnother) {
  returning = false;
  if (isAnother) restoreScroll();
}

/**
 * Scroll to the stored position of this history entry, else to the top. A page that is too short is scrolled as it
 * grows, until the user scrolls.
 */
function restoreScroll() {
  const wanted = history.state?.scroll ?? 0;
  window.scrollTo(0, wanted);
  if (window.scrollY >= wanted - 1) return;
  const growing = new ResizeObserver(() => {
    window.scrollTo(0, wanted);
    if (window.scrollY >= wanted - 1) stopReturning();
  });
  const ended = setTimeout(() => stopReturning(), RETURNING);
  const mine = ["wheel", "touchmove", "keydown", "pointerdown", "hashchange"];
  stopReturning = () => {
    growing.disconnect();
    clearTimeout(ended);
    for (const each of mine) window.removeEventListener(each, stopReturning);
    stopReturning = () => {};
    returning = false;
  };
  returning = true;
  for (const each of mine) window.addEventListener(each, stopReturning, { passive: true });
  growing.observe(document.body);
}

/** Store the scroll position with each entry of the history. */
export function watchScroll() {
  history.scrollRestoration = "manual";
  const keep = () => {
    clearTimeout(resting);
    resting = setTimeout(() => {
      if (!returning) history.replaceState({ ...history.state, scroll: window.scrollY }, "");
    }, RESTED);
  };
  window.addEventListener("scroll", keep, { passive: true });
  // The history changes before the screen does: a pending position belongs to the previous entry.
  window.addEventListener("popstate", () => clearTimeout(resting));
}
