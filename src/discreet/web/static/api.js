// Everything that is asked of the server. Paths begin with /api/; the cookie goes along by itself. Questions go at
// once; changes go one after the other, numbered, and each until it is answered (discreet.web.write_order).

import { Lane, writer } from "./turns.js";

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

/** Read something; it is read after what is being saved now, on the next screen too. */
export const get = (path, options) => saved().then(() => call("GET", path, undefined, options));

/** Ask something that takes a body and changes nothing of the work. */
export const query = (path, body = {}, options) => saved().then(() => call("POST", path, body, options));

/** Change something. `body` may be a function: it is called when the change is sent, after those before it. */
export const post = (path, body = {}, options) => write("POST", path, body, options);
export const put = (path, body = {}, options) => write("PUT", path, body, options);
export const remove = (path, options) => write("DELETE", path, undefined, options);

const work = new Lane();
const jobs = new Lane();
const uploads = new Lane();
let line = "open";
let atOnce = () => {}; // ends the pause of a change that is to be sent again
let base = {}; // the tags of what the page shows, by part of the work

/** When what is being saved now is saved or failed; at once where the line is broken and it may take long. */
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
 * Send a change when those before it are answered. It is sent again until the server answers, even where the screen
 * that made it is left: then only its answer is not wanted any more.
 */
function write(method, path, body, { signal } = {}) {
  if (path === "/api/session") return call(method, path, body);
  const lane = path.startsWith("/api/jobs/") ? jobs : work;
  const done = lane.add(() => delivered(method, path, typeof body === "function" ? body() : body));
  return signal ? unless(signal, done) : done;
}

/** A promise's result unless a signal says that nobody waits for it any more. */
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
      return await call(method, path, body, { headers, onAnswer: ({ headers: told }) => learn(told) });
    } catch (error) {
      if (error.kind === "outdated" && !renamed) {
        renamed = true; // a copy of this tab has its name, too
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
const PAUSES = [100, 3000]; // milliseconds until a change is sent again: the first, and the longest

/** Wait until a change is to be sent again, longer each time; or until the line is back. */
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

/** Learn from the answer to a change what the page shows from now on; other tabs look whether it concerns them. */
function learn(headers) {
  const told = Object.fromEntries(
    (headers.get("discreet-parts") ?? "")
      .split(", ")
      .filter(Boolean)
      .map((each) => each.split("=")),
  );
  if (Object.entries(told).some(([part, tag]) => base[part] !== tag)) channel?.postMessage("changed");
  base = { ...base, ...told };
}

const writtenTags = (tags) =>
  Object.entries(tags)
    .map((pair) => pair.join("="))
    .join(", ");

/** A screen is drawn anew: what it reads from now on is what the page shows. Call it before reading. */
export function beginAnew() {
  return work.add(async () => {
    base = await call("GET", "/api/workspace/parts", undefined, { headers: writer.headers() });
  });
}

/** The tag of what the page shows of a part: of the table, the request, the choice, or the saved answers. */
export const shownTag = (part) => base[part] ?? null;

/** Take what is there now as seen, of one part only. */
export function acceptPart(part) {
  return work.add(async () => {
    const now = await call("GET", "/api/workspace/parts", undefined, { headers: writer.headers() });
    base = { ...base, [part]: now[part] };
  });
}

let held = 0;

/** Look whether something changed elsewhere; the page hears of it as "discreet:changed" with the parts. */
export function lookAround() {
  if (held > 0 || Object.keys(base).length === 0 || line !== "open") return Promise.resolve();
  return work.add(() => (held > 0 ? null : compare())).catch(() => {});
}

/** Do something that changes the work by itself, as a job does: until it is done, changes are its own. */
export async function whileChanging(task) {
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

channel?.addEventListener("message", () => lookAround());

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
    tellLine("gone");
    throw new ApiError(0, {
      kind: "connection",
      message: "The server does not answer",
      advice: "It is tried again by itself.",
    });
  }
  tellLine(response.status === 401 ? "signed-out" : "open");
  if (response.ok) onAnswer(response);
  return read(response.status, text);
}

/** Tell the page how the line to the server is: open, gone, signed-out. */
export function tellLine(state) {
  line = state;
  if (state === "open") atOnce();
  window.dispatchEvent(new CustomEvent("discreet:line", { detail: state }));
}

/** How the line to the server is. */
export const lineState = () => line;

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

/** Send a file as it is to the workspace's uploads, after those before; `onProgress(sent, total)` while it goes. */
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
