// Runs before the first paint: sets the theme chosen last.
(() => {
  let theme = "auto";
  try {
    theme = localStorage.getItem("discreet.theme") || "auto";
  } catch {
    // Storage may be disabled; then the system's theme applies.
  }
  document.documentElement.dataset.theme = ["light", "dark"].includes(theme) ? theme : "auto";
})();
