// A strict cookie is not sent when another page led here, but it is when this page asks: then go on.
export async function goOnIfSignedIn() {
  try {
    const answer = await fetch("/api/session");
    if (answer.ok) {
      location.replace("/");
    }
  } catch {
    // The server has ended; the page says what to do.
  }
}
