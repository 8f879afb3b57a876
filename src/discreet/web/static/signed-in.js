// Browsers send no strict cookie with a link from another site, but with requests of this page: then continue.
export async function goOnIfSignedIn() {
  try {
    const answer = await fetch("/api/session");
    if (answer.ok) {
      location.replace("/");
    }
  } catch {
    // The server has ended; the page explains the next step.
  }
}
