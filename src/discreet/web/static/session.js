// The signed-in user, and a button to sign out if the server has several users.
import { get, remove } from "./api.js";
import { button } from "./components/parts.js";
import { h } from "./dom.js";

async function signOut() {
  await remove("/api/session");
  location.assign("/login");
}

async function show() {
  const session = await get("/api/session");
  if (session.login !== "token") {
    const out = session.login === "password" ? button("Sign out", { small: true, onClick: signOut }) : null;
    document.getElementById("theme").before(h("span", { class: "signed-in" }, session.user), out ?? "");
  }
  return session.user;
}

/** The name of the user signed in when the page is loaded, null if it is not known. */
export const user = show().catch(() => null);
