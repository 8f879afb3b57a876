// Printing: light colours for any theme, and a footer with the table and the time.

import { themeChanged } from "./colour.js";

/** Prepare the page before it is printed, and restore it afterwards. */
export function watchPrint(main, summary) {
  const root = document.documentElement;
  let { theme } = root.dataset;
  const change = (name) => {
    root.dataset.theme = name;
    themeChanged();
  };
  window.addEventListener("beforeprint", () => {
    ({ theme } = root.dataset);
    root.dataset.printing = "yes";
    const about = [...summary.children].map((each) => each.textContent.trim());
    const today = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
    main.dataset.foot = ["discreet", ...about, today].filter(Boolean).join(" · ");
    change("light");
  });
  window.addEventListener("afterprint", () => {
    delete root.dataset.printing;
    change(theme);
  });
}
