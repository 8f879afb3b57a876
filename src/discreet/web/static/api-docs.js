// Shows the server's own OpenAPI description; loads no external resource.
import { h } from "./dom.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

function resolve(schema, document) {
  if (schema && schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return [document.components.schemas[name] || {}, name];
  }
  return [schema || {}, null];
}

function typeText(schema, document) {
  const [found, name] = resolve(schema, document);
  if (name) {
    return name;
  }
  const choices = found.anyOf || found.oneOf;
  if (choices) {
    return choices.map((choice) => typeText(choice, document)).join(" or ");
  }
  if (found.enum || found.const !== undefined) {
    return (found.enum || [found.const]).map((value) => JSON.stringify(value)).join(", ");
  }
  if (found.type === "array") {
    return `list of ${typeText(found.items, document)}`;
  }
  if (found.type === "object" && typeof found.additionalProperties === "object") {
    return `object of ${typeText(found.additionalProperties, document)}`;
  }
  return found.format ? `${found.type} (${found.format})` : found.type || "anything";
}

function bounds(schema) {
  const texts = [];
  const add = (key, text) => {
    if (schema[key] !== undefined) {
      texts.push(`${text} ${schema[key]}`);
    }
  };
  add("minimum", "at least");
  add("exclusiveMinimum", "above");
  add("maximum", "at most");
  add("minLength", "characters from");
  add("maxLength", "characters to");
  add("default", "default");
  return texts.join(", ");
}

function parts(schema, document, into = new Map()) {
  const [found, name] = resolve(schema, document);
  if (name) {
    if (into.has(name)) {
      return into;
    }
    into.set(name, found);
  }
  for (const inner of Object.values(found.properties || {})) {
    parts(inner, document, into);
  }
  for (const inner of [...(found.anyOf || []), ...(found.oneOf || [])]) {
    parts(inner, document, into);
  }
  if (found.items) {
    parts(found.items, document, into);
  }
  if (typeof found.additionalProperties === "object") {
    parts(found.additionalProperties, document, into);
  }
  return into;
}

function prose(text) {
  return (text || "").split("`").map((part, place) => (place % 2 ? h("code", {}, part) : part));
}

function row(name, type, required, text) {
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row" },
      h("code", {}, name),
      required ? h("span", { class: "docs-required" }, " required") : null,
    ),
    h("td", {}, h("code", {}, type)),
    h("td", {}, prose(text)),
  );
}

function grid(caption, rows) {
  return h(
    "div",
    { class: "scroll-x", tabindex: "0", role: "group", "aria-label": caption },
    h(
      "table",
      { class: "docs-table" },
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...["name", "type", "meaning"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, ...rows),
    ),
  );
}

function explained(schema) {
  return [schema.description, bounds(schema)].filter(Boolean).join(" ");
}

function schemaTables(schema, document) {
  return [...parts(schema, document)].map(([name, found]) => {
    const required = new Set(found.required || []);
    const entries = Object.entries(found.properties || {});
    if (entries.length === 0) {
      return h("p", {}, h("code", {}, name), `: ${typeText(found, document)}. ${found.description || ""}`);
    }
    const rows = entries.map(([key, inner]) =>
      row(key, typeText(inner, document), required.has(key), explained(inner)),
    );
    return grid(name, rows);
  });
}

function body(operation, document) {
  const content = operation.requestBody && operation.requestBody.content;
  if (!content) {
    return [];
  }
  return Object.entries(content).flatMap(([type, media]) => [
    h("p", {}, "Body: ", h("code", {}, type), ` ${typeText(media.schema, document)}`),
    ...schemaTables(media.schema, document),
  ]);
}

function answers(operation, document) {
  return Object.entries(operation.responses || {})
    .filter(([status]) => status < "300")
    .flatMap(([status, answer]) => [
      h("p", {}, "Answer ", h("code", {}, status), `: ${answer.description || ""}`),
      ...Object.values(answer.content || {}).flatMap((media) => schemaTables(media.schema || {}, document)),
    ]);
}

function operationElement(path, method, operation, document) {
  const parameters = (operation.parameters || []).map((one) =>
    row(
      one.name,
      typeText(one.schema, document),
      one.required,
      [one.description, bounds(one.schema)].filter(Boolean).join(" "),
    ),
  );
  const details = h(
    "details",
    { class: "docs-operation", dataset: { text: `${method} ${path} ${operation.summary || ""}`.toLowerCase() } },
    h(
      "summary",
      {},
      h("span", { class: `docs-method docs-${method}` }, method.toUpperCase()),
      h("code", { class: "docs-path" }, path),
      h("span", { class: "docs-summary" }, operation.summary || ""),
    ),
  );
  const fill = () =>
    details.append(
      h("p", {}, prose(operation.description)),
      ...(parameters.length ? [grid("Parameters", parameters)] : []),
      ...body(operation, document),
      ...answers(operation, document),
    );
  details.addEventListener("toggle", fill, { once: true });
  return details;
}

function groupElement(tag, document) {
  const operations = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      if (item[method] && (item[method].tags || []).includes(tag.name)) {
        operations.push(operationElement(path, method, item[method], document));
      }
    }
  }
  if (operations.length === 0) {
    return null;
  }
  return h("section", { class: "docs-group" }, h("h2", {}, tag.name), h("p", {}, tag.description || ""), ...operations);
}

function filter(text) {
  for (const operation of document.querySelectorAll(".docs-operation")) {
    operation.hidden = !operation.dataset.text.includes(text);
  }
  for (const group of document.querySelectorAll(".docs-group")) {
    group.hidden = !group.querySelector(".docs-operation:not([hidden])");
  }
}

async function show() {
  const lead = document.getElementById("lead");
  const answer = await fetch("/openapi.json");
  if (!answer.ok) {
    lead.textContent = "You are not signed in.";
    return;
  }
  const description = await answer.json();
  lead.replaceChildren(...prose(description.info.description).flat());
  const groups = description.tags.map((tag) => groupElement(tag, description)).filter(Boolean);
  document.getElementById("groups").replaceChildren(...groups);
  const field = document.getElementById("filter");
  field.addEventListener("input", () => filter(field.value.trim().toLowerCase()));
}

show();
