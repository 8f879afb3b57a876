/** Which step the keys of an event ask for; null where they ask for none, or a text is being typed. */
export function stepOfKeys(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
  const key = event.key.toLowerCase();
  const types = event.target.matches("textarea, input:not([type=range], [type=checkbox], [type=radio], [data-live])");
  if (types || (key !== "z" && key !== "y")) return null;
  return key === "y" || event.shiftKey ? "redo" : "undo";
}
