// The login page. A signed-in user continues to the workbench.
import { goOnIfSignedIn } from "./signed-in.js";

const form = document.getElementById("login");
const error = document.getElementById("error");
const button = form.querySelector("button");

function show(text) {
  error.textContent = text;
  error.hidden = text === "";
}

async function signIn() {
  const body = JSON.stringify({ user: form.user.value.trim(), password: form.password.value });
  const answer = await fetch("/api/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
  });
  if (answer.ok) {
    location.replace("/");
    return;
  }
  const problem = (await answer.json()).error;
  show(
    [`${problem.message.slice(0, 1).toUpperCase()}${problem.message.slice(1)}.`, problem.advice]
      .filter(Boolean)
      .join(" "),
  );
  form.password.value = "";
  form.password.focus();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  show("");
  if (!form.user.value.trim() || !form.password.value) {
    show("Enter your user name and your password.");
    (form.user.value.trim() ? form.password : form.user).focus();
    return;
  }
  button.disabled = true;
  try {
    await signIn();
  } catch {
    show("The server does not answer.");
  } finally {
    button.disabled = false;
  }
});

goOnIfSignedIn();
