// A few line icons, embedded so that none is fetched.

import { svg } from "./dom.js";

const PATHS = {
  check: "M5 12.500 10 17.500 19 7",
  alert: "M12 6v7M12 17v.5",
  sun:
    "M12 3v2M12 19v2M3 12h2M19 12h2M5.600 5.600 7 7M17 17l1.400 1.400M5.600 18.400 7 17M17 7l1.400-1.400M12 " +
    "8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z",
  half: "M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17zM12 4v16M14 5v14M16 6v12M18 8v8",
  undo: "M9 14 4 9l5-5M4 9h10a5.500 5.500 0 0 1 0 11h-3",
  redo: "M15 14l5-5-5-5M20 9H10a5.500 5.500 0 0 0 0 11h3",
  versions: "M4 12a8 8 0 1 0 2.500-5.800L4 8.500M4 4v4.500h4.500M12 8v4.500l3 2",
  upload: "M12 16V4M7 9l5-5 5 5M4 20h16",
  download: "M12 4v12M7 11l5 5 5-5M4 20h16",
  folder: "M3 6h6l2 2h10v11H3z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  right: "M9 5l7 7-7 7",
  down: "M5 9l7 7 7-7",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6 6 18",
  group: "M4 5h6v5H4zM14 5h6v5h-6zM9 15h6v5H9zM7 10v2.500h10V10M12 12.500V15",
  pen: "M4 20l1-4L16 5l3 3L8 19z",
};

/** Return an icon, hidden from screen readers: the text next to it has its meaning. */
export function icon(name) {
  return svg(
    "svg",
    {
      viewBox: "0 0 24 24",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": "2",
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
      "aria-hidden": "true",
      focusable: "false",
    },
    svg("path", { d: PATHS[name] ?? "" }),
  );
}
