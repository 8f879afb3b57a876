/** Return the step (undo or redo) of a key event; null if there is none, or a text is being typed. */
export function stepOfKeys(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
  const key = event.key.toLowerCase();
  const types = event.target.matches("textarea, input:not([type=range], [type=checkbox], [type=radio], [data-live])");
  if (types || (key !== "z" && key !== "y")) return null;
  return key === "y" || event.shiftKey ? "redo" : "undo";
}
