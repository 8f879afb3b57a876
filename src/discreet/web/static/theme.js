// Runs before the first paint: the theme that was chosen here last.
(() => {
  let theme = "auto";
  try {
    theme = localStorage.getItem("discreet.theme") || "auto";
  } catch {
    // Storage may be switched off; then the system's theme serves.
  }
  document.documentElement.dataset.theme = ["light", "dark"].includes(theme) ? theme : "auto";
})();
