// Everything that is asked of the server. Paths begin with /api/; the cookie goes along by itself.

/** What the server refuses, in the words of the library: fact, what is allowed, what to do, and the field. */
export class ApiError extends Error {
  constructor(
    status,
    { kind = "error", message = "The server did not answer.", allowed = null, advice = null, field = null } = {},
  ) {
    super(message);
    Object.assign(this, { name: "ApiError", status, kind, allowed, advice, field });
  }
}

/** An error as one text: the fact, what is allowed, what to do. */
export function errorText(error) {
  const said = error.message ?? String(error);
  const message = said.replace(/^(an?|its|no|that|the|there|this) /, (word) => word[0].toUpperCase() + word.slice(1));
  const parts = [/[.!?]$/.test(message) ? message : `${message}.`];
  if (error.allowed) parts.push(`Allowed: ${error.allowed}.`);
  if (error.advice) parts.push(error.advice);
  return parts.join(" ");
}

export const get = (path, options) => saved().then(() => call("GET", path, undefined, options));
export const post = (path, body = {}, options) => call("POST", path, body, options);
export const put = (path, body = {}, options) => saving(call("PUT", path, body, options));
export const remove = (path, options) => saving(call("DELETE", path, undefined, options));

const saves = new Set();

/** A change that is being saved: whatever is read meanwhile is read after it, on the next screen too. */
export function saving(change) {
  saves.add(change);
  const done = () => saves.delete(change);
  change.then(done, done);
  return change;
}

/** When what is being saved now is saved, or failed. */
const saved = () => Promise.allSettled(saves);

async function call(method, path, body, { signal } = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      signal,
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    tellLine("gone");
    throw new ApiError(0, {
      kind: "connection",
      message: "The server does not answer",
      advice: "It is tried again by itself.",
    });
  }
  tellLine(response.status === 401 ? "signed-out" : "open");
  return read(response.status, await response.text());
}

/** Tell the page how the line to the server is: open, gone, signed-out. */
export function tellLine(state) {
  window.dispatchEvent(new CustomEvent("discreet:line", { detail: state }));
}

function read(status, body) {
  let value = null;
  try {
    value = body === "" ? null : JSON.parse(body);
  } catch {
    throw new ApiError(status, { message: `The server answered with something that is no JSON (${status})` });
  }
  if (status >= 200 && status < 300) return value;
  throw failure(status, value);
}

function failure(status, value) {
  if (value?.error) return new ApiError(status, value.error);
  const first = Array.isArray(value?.detail) ? value.detail[0] : null;
  if (first) {
    const place = (first.loc ?? []).filter((part) => !["body", "query", "path"].includes(part));
    return new ApiError(status, { kind: "bad-input", message: first.msg, field: place.join(".") || null });
  }
  return new ApiError(status, {
    message: typeof value?.detail === "string" ? value.detail : `The server answered ${status}`,
  });
}

/** Send a file as it is to the workspace's uploads; `onProgress(sent, total)` while it goes. */
export function upload(file, onProgress = () => {}, { signal, replace = false } = {}) {
  const path = `/api/workspace/uploads/${encodeURIComponent(file.name)}${replace ? "?replace=true" : ""}`;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", path);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded, event.total || file.size));
    request.addEventListener("load", () => {
      try {
        resolve(read(request.status, request.responseText));
      } catch (error) {
        reject(error);
      }
    });
    request.addEventListener("error", () =>
      reject(new ApiError(0, { kind: "connection", message: "The upload broke off" })),
    );
    request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

/** Wait for a job; `onProgress(job)` (title, stage, done, total, notices) as it goes on. Resolves with its result. */
export async function follow(job, onProgress = () => {}, { signal } = {}) {
  let pause = 60;
  for (;;) {
    const state = await get(`/api/jobs/${encodeURIComponent(job)}`, { signal });
    onProgress(state);
    if (state.state === "done") return state.result;
    if (state.state === "failed") throw new ApiError(500, state.error ?? {});
    if (state.state === "cancelled") throw new DOMException("cancelled", "AbortError");
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(400, pause * 1.3);
  }
}

/** Ask a job to stop. */
export function cancel(job) {
  return remove(`/api/jobs/${encodeURIComponent(job)}`);
}

/** Let the browser save what a path gives. */
export function download(path, name = "") {
  const link = document.createElement("a");
  link.href = path;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}
