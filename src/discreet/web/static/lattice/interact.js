// Pointer, wheel, touch and keys on the lattice: pan, zoom, hover, select, move to neighbours.

const MOST_ZOOM = 60;

/** Listen on the canvas of a chart (chart.js) until `signal` aborts. */
export function interact(chart, signal) {
  const { surface } = chart;
  const pointers = new Map();
  let moved = false;
  let pinch = null;
  const options = { signal };
  const at = (event) => {
    const box = surface.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  surface.addEventListener(
    "pointerdown",
    (event) => {
      surface.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      moved = false;
      pinch = pointers.size === 2 ? spread(pointers) : null;
    },
    options,
  );
  surface.addEventListener(
    "pointermove",
    (event) => {
      const now = at(event);
      const before = pointers.get(event.pointerId);
      if (!before) {
        chart.hoverAt(...now, event.pointerType);
        return;
      }
      if (pointers.size === 2) {
        pointers.set(event.pointerId, now);
        const next = spread(pointers);
        if (pinch && pinch.distance > 0) {
          chart.zoom(next.distance / pinch.distance, ...next.middle);
          chart.pan(next.middle[0] - pinch.middle[0], next.middle[1] - pinch.middle[1]);
        }
        pinch = next;
        moved = true;
        return;
      }
      const step = [now[0] - before[0], now[1] - before[1]];
      if (!moved && Math.hypot(...step) < 4) return;
      moved = true;
      chart.pan(...step);
      pointers.set(event.pointerId, now);
    },
    options,
  );
  const release = (event) => {
    const known = pointers.delete(event.pointerId);
    if (known && !moved && event.type === "pointerup") chart.chooseAt(...at(event), event.pointerType);
    if (pointers.size < 2) pinch = null;
  };
  surface.addEventListener("pointerup", release, options);
  surface.addEventListener("pointercancel", release, options);
  surface.addEventListener("pointerleave", () => chart.hover(-1), options);
  surface.addEventListener(
    "wheel",
    (event) => {
      if (event.deltaY > 0 && chart.view.scale === 1) return; // the page scrolls instead
      event.preventDefault();
      chart.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)), ...at(event));
    },
    { signal, passive: false },
  );
  surface.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = keys(chart, event);
      if (!act) return;
      event.preventDefault();
      act();
    },
    options,
  );
}

function keys(chart, event) {
  const digit = /^Digit([1-9])$/.exec(event.code);
  if (digit) return () => chart.walkAttribute(Number(digit[1]) - 1, event.shiftKey ? -1 : 1);
  return {
    ArrowUp: () => chart.walk(1),
    ArrowDown: () => chart.walk(-1),
    ArrowRight: () => chart.walkSideways(1),
    ArrowLeft: () => chart.walkSideways(-1),
    Home: () => chart.choose(0),
    End: () => chart.choose(chart.nodes.count - 1),
    Escape: () => chart.onReset(),
    "+": () => chart.zoomAtChosen(1.5),
    "=": () => chart.zoomAtChosen(1.5),
    "-": () => chart.zoomAtChosen(1 / 1.5),
    0: () => chart.fit(),
  }[event.key];
}

/** Limit a view: never smaller than the whole, never outside the area. */
export function bounded(view, width, height) {
  const scale = Math.min(MOST_ZOOM, Math.max(1, view.scale));
  return {
    scale,
    x: Math.min(0, Math.max(width - width * scale, view.x)),
    y: Math.min(0, Math.max(height - height * scale, view.y)),
  };
}

function spread(pointers) {
  const [a, b] = [...pointers.values()];
  return { distance: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
}
