// Where somebody is: the screen, what it shows of it (an attribute, a release, a tab), and how far it was scrolled.

const RESTED = 150; // milliseconds without scrolling, after which the place is kept
const RETURNING = 20_000; // milliseconds in which a page may grow to where it was left
let returning = false; // whether a screen is made or a place gone back to, which is not to be forgotten meanwhile
let stopReturning = () => {};
let resting = 0;

/** The screen's name in the address, and its parameters. */
export function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: path.split("/")[0], params: new URLSearchParams(query) };
}

/** Keep what a screen shows in the address, by name; null takes it away. Back and reload lead there again. */
export function keepPlace(changes) {
  const { name, params } = place();
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") params.delete(key);
    else params.set(key, value);
  }
  const query = params.toString();
  const hash = `#/${name}${query ? `?${query}` : ""}`;
  if (hash !== location.hash) history.replaceState(history.state, "", hash);
}

/** A screen is made: until `arrived`, what scrolls the page is its emptying, which says nothing of a place. */
export function arriving() {
  stopReturning();
  clearTimeout(resting);
  returning = true;
}

/** A screen stands; another one than before is scrolled to where it was left. */
export function arrived(isAnother) {
  returning = false;
  if (isAnother) backInPlace();
}

/**
 * Scroll to where this entry of the history was left, else to the top. A page that is not that long yet is scrolled as
 * it grows, until somebody scrolls it.
 */
function backInPlace() {
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

/** Keep how far the page is scrolled with each entry of the history. */
export function watchScroll() {
  history.scrollRestoration = "manual";
  const keep = () => {
    clearTimeout(resting);
    resting = setTimeout(() => {
      if (!returning) history.replaceState({ ...history.state, scroll: window.scrollY }, "");
    }, RESTED);
  };
  window.addEventListener("scroll", keep, { passive: true });
  // The history is at another entry before the screen is: what rests until then is of the one before.
  window.addEventListener("popstate", () => clearTimeout(resting));
}
