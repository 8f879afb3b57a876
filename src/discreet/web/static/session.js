// Who is signed in, and the way out, where the server knows several users.
import { remove, get } from "./api.js";
import { button } from "./components/parts.js";
import { h } from "./dom.js";

async function signOut() {
  await remove("/api/session");
  location.assign("/login");
}

async function show() {
  const session = await get("/api/session");
  if (session.login === "token") {
    return;
  }
  const out = session.login === "password" ? button("Sign out", { small: true, onClick: signOut }) : null;
  document.getElementById("theme").before(h("span", { class: "signed-in" }, session.user), out ?? "");
}

show();
