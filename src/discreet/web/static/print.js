// Printing: light colours whatever the theme, and a foot that says of which table and when.

import { themeChanged } from "./colour.js";

/** Make ready what is drawn before a page is printed, and take it back afterwards. */
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
