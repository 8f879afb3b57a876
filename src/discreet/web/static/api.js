// Requests to the server. Paths begin with /api/; the browser sends the cookie. Queries are sent at once; changes are
// sent one after the other, numbered, and each is repeated until it is answered (discreet.web.write_order).

import { Lane, writer } from "./turns.js";

/** A refusal of the server in the words of the library: message, allowed values, advice, and the field. */
export class ApiError extends Error {
  constructor(
    status,
    { kind = "error", message = "The server did not answer.", allowed = null, advice = null, field = null } = {},
  ) {
    super(message);
    Object.assign(this, { name: "ApiError", status, kind, allowed, advice, field });
  }
}

/** Return an error as one text: message, allowed values, advice. */
export function errorText(error) {
  const text = error.message ?? String(error);
  const message = text.replace(/^(an?|its|no|that|the|there|this) /, (word) => word[0].toUpperCase() + word.slice(1));
  const parts = [/[.!?]$/.test(message) ? message : `${message}.`];
  if (error.allowed) parts.push(`Allowed: ${error.allowed}.`);
  if (error.advice) parts.push(error.advice);
  return parts.join(" ");
}

/** Read something after pending changes are saved, including those of another screen. */
export const get = (path, options) => saved().then(() => call("GET", path, undefined, options));

/** Send a query with a body that changes nothing of the work. */
export const query = (path, body = {}, options) => saved().then(() => call("POST", path, body, options));

/** Change something. A function `body` is called when the change is sent, after the changes before it. */
export const post = (path, body = {}, options) => write("POST", path, body, options);
export const put = (path, body = {}, options) => write("PUT", path, body, options);
export const remove = (path, options) => write("DELETE", path, undefined, options);

const work = new Lane();
const jobs = new Lane();
const uploads = new Lane();
let line = "open";
let atOnce = () => {}; // ends the pause before a change is sent again
let base = {}; // the tags of the parts that the page shows

/** Wait until pending changes are saved or have failed; return at once if the connection is broken. */
async function saved() {
  if (work.waiting === 0 || line !== "open") return;
  await Promise.race([work.done, broken()]);
}

function broken() {
  return new Promise((resolve) => {
    const hear = ({ detail }) => {
      if (detail === "open") return;
      window.removeEventListener("discreet:line", hear);
      resolve();
    };
    window.addEventListener("discreet:line", hear);
    work.done.then(() => window.removeEventListener("discreet:line", hear));
  });
}

/**
 * Send a change after those before it are answered. It is sent again until the server answers, even if its screen is
 * left: then only its answer is dropped.
 */
function write(method, path, body, { signal } = {}) {
  if (path === "/api/session") return call(method, path, body);
  const lane = path.startsWith("/api/jobs/") ? jobs : work;
  const done = lane.add(() => delivered(method, path, typeof body === "function" ? body() : body));
  return signal ? unless(signal, done) : done;
}

/** Return a promise's result unless a signal aborts the wait. */
function unless(signal, promise) {
  promise.catch(() => {});
  return new Promise((resolve, reject) => {
    const leave = () => reject(new DOMException("left", "AbortError"));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

async function delivered(method, path, body) {
  let number = writer.next();
  let renamed = false;
  for (let tries = 0; ; tries += 1) {
    try {
      const headers = { ...writer.headers(number), "discreet-base": writtenTags(base) };
      return await call(method, path, body, { headers, onAnswer: ({ headers: answered }) => learn(answered) });
    } catch (error) {
      if (error.kind === "outdated" && !renamed) {
        renamed = true; // a copy of this tab has the same name
        number = writer.rename();
      } else if (AGAIN.has(error.status)) await pause(tries);
      else {
        if (error.kind === "changed-elsewhere") await compare().catch(() => {});
        throw error;
      }
    }
  }
}

const AGAIN = new Set([0, 401, 502, 503, 504]);
const PAUSES = [100, 3000]; // milliseconds before a change is sent again: the first pause, and the longest

/** Wait before a change is sent again, longer each time, or until the connection is back. */
function pause(tries) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(PAUSES[1], PAUSES[0] * 2 ** tries));
    atOnce = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel("discreet") : null;

/** Store the tags of a change's answer as those of the page; other tabs then check for changes. */
function learn(headers) {
  const tags = Object.fromEntries(
    (headers.get("discreet-parts") ?? "")
      .split(", ")
      .filter(Boolean)
      .map((each) => each.split("=")),
  );
  if (Object.entries(tags).some(([part, tag]) => base[part] !== tag)) channel?.postMessage("changed");
  base = { ...base, ...tags };
}

const writtenTags = (tags) =>
  Object.entries(tags)
    .map((pair) => pair.join("="))
    .join(", ");

/** Start a new screen: the data read from now on are those of the page. Call it before reading. */
export function startScreen() {
  return work.add(async () => {
    base = await call("GET", "/api/workspace/parts", undefined, { headers: writer.headers() });
  });
}

/** Return the tag of a part as the page shows it: the table, the request, the choice, or the saved answers. */
export const shownTag = (part) => base[part] ?? null;

/** Accept the current state of one part as that of the page. */
export function acceptPart(part) {
  return work.add(async () => {
    const now = await call("GET", "/api/workspace/parts", undefined, { headers: writer.headers() });
    base = { ...base, [part]: now[part] };
  });
}

let held = 0;

/** Check for changes of other tabs or programs; the page gets a "discreet:changed" event with the parts. */
export function checkForChanges() {
  if (held > 0 || Object.keys(base).length === 0 || line !== "open") return Promise.resolve();
  return work.add(() => (held > 0 ? null : compare())).catch(() => {});
}

/** Run a task that changes the work on the server, such as a job: changes during it count as the page's own. */
export async function runChange(task) {
  held += 1;
  try {
    return await task();
  } finally {
    held -= 1;
  }
}

async function compare() {
  const now = await call("GET", "/api/workspace/parts", undefined, { headers: writer.headers() });
  const parts = Object.keys(base).filter((part) => base[part] !== now[part]);
  window.dispatchEvent(new CustomEvent("discreet:changed", { detail: parts }));
}

channel?.addEventListener("message", () => checkForChanges());

async function call(method, path, body, { signal, headers = {}, onAnswer = () => {} } = {}) {
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      signal,
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    setConnectionState("gone");
    throw new ApiError(0, {
      kind: "connection",
      message: "The server does not answer",
      advice: "It is retried automatically.",
    });
  }
  setConnectionState(response.status === 401 ? "signed-out" : "open");
  if (response.ok) onAnswer(response);
  return read(response.status, text);
}

/** Set the state of the connection to the server: open, gone, signed-out. */
export function setConnectionState(state) {
  line = state;
  if (state === "open") atOnce();
  window.dispatchEvent(new CustomEvent("discreet:line", { detail: state }));
}

/** Return the state of the connection. */
export const lineState = () => line;

function read(status, body) {
  let value = null;
  try {
    value = body === "" ? null : JSON.parse(body);
  } catch {
    throw new ApiError(status, { message: `The server's answer is not JSON (${status})` });
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

/** Send a file unchanged to the workspace's uploads, after earlier uploads; calls `onProgress(sent, total)`. */
export function upload(file, onProgress = () => {}, { signal, replace = false } = {}) {
  const path = `/api/workspace/uploads/${encodeURIComponent(file.name)}${replace ? "?replace=true" : ""}`;
  return uploads.add(() => sent(path, file, onProgress, signal));
}

function sent(path, file, onProgress, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new DOMException("cancelled", "AbortError"));
      return;
    }
    const request = new XMLHttpRequest();
    request.open("PUT", path);
    request.setRequestHeader("content-type", "application/octet-stream");
    for (const [name, value] of Object.entries(writer.headers(writer.next()))) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded, event.total || file.size));
    request.addEventListener("load", () => {
      try {
        resolve(read(request.status, request.responseText));
      } catch (error) {
        reject(error);
      }
    });
    request.addEventListener("error", () =>
      reject(new ApiError(0, { kind: "connection", message: "The upload was interrupted" })),
    );
    request.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

/** Wait for a job and return its result; calls `onProgress(job)` (title, stage, done, total, notices). */
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

/** Cancel a job. */
export function cancel(job) {
  return remove(`/api/jobs/${encodeURIComponent(job)}`);
}

/** Let the browser save the content of a path. */
export function download(path, name = "") {
  const link = document.createElement("a");
  link.href = path;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}
