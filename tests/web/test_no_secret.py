"""No answer of the workbench and no file of its workspace repeats a potential password.

Requests are generated from the description of the routes, which covers new routes automatically.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import pytest

from discreet.web.job_queue import JobQueue
from discreet.web.workspace import Workspace
from tests.cli.test_no_secret import ADDRESSES
from tests.cli.test_no_secret import contains_secret as repeats
from tests.web.conftest import Client, MakeClient
from tests.web.test_interface import prepared

KEPT = {"null_values"}
"""Texts that denote NULL: the spec repeats them verbatim."""
EXCLUDED = ("/api/load/sample", "/api/workspace/spec", "/api/session", "/api/health", "/api/versions/undo")
"""Routes that replace the open table or take no text."""
UNREADABLE = 422
DEPTH = 4


def bodies(schemas: Mapping[str, Any], schema: Mapping[str, Any], address: str) -> Iterator[Any]:
    """Yield bodies of a schema with the address as one text: with all properties and with few."""
    whole = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    plain = example(schemas, whole)
    for found in marked(plain, address):
        yield found
        if isinstance(found, dict):
            kept = {*whole.get("required", ()), *(k for k in found if found[k] != plain[k])}
            yield {key: value for key, value in found.items() if key in kept}


def example(schemas: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> Any:
    """Return a value of a schema with every property."""
    if "$ref" in schema:
        return example(schemas, schemas[schema["$ref"].rpartition("/")[2]], depth)
    for many in ("anyOf", "oneOf", "allOf"):
        if many in schema:
            return example(schemas, schema[many][0], depth)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        if depth > DEPTH:
            return {}
        found = {k: example(schemas, each, depth + 1) for k, each in schema.get("properties", {}).items()}
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and more:
            found["age"] = example(schemas, more, depth + 1)
        return found
    if kind == "array":
        return [example(schemas, schema.get("items", {}), depth + 1)] if depth <= DEPTH else []
    return {"integer": 2, "number": 0.5, "boolean": True, "null": None}.get(str(kind), "age")


def marked(value: Any, address: str) -> Iterator[Any]:
    """Yield the value once per text, with that text replaced by the address."""
    if isinstance(value, str):
        yield address
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from ([*value[:place], new, *value[place + 1 :]] for new in marked(item, address))
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in KEPT:
                yield from ({**value, key: new} for new in marked(item, address))


def routes(client: Client) -> list[tuple[str, str]]:
    """Return the routes that take a text and keep the state that the next route needs."""
    found = client.get("/openapi.json").json()["paths"]
    every = [(method, path) for path, each in found.items() for method in each]
    return [(method, path) for method, path in every if method != "delete" and path not in EXCLUDED]


def answers(client: Client, method: str, path: str, address: str) -> Iterator[tuple[Any, Any]]:
    """Yield each body of a route that contains the address, with the answer."""
    found = client.get("/openapi.json").json()
    operation = found["paths"][path][method]
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    given = operation.get("parameters", [])
    named = {each["name"]: "people.csv" for each in given if each["in"] == "path"}
    queried = [each["name"] for each in given if each["in"] == "query"]
    for body in [None] if schema is None else bodies(found["components"]["schemas"], schema, address):
        yield body, client.request(method, path.format(**named), json=body)
    for name in named:
        texts = {**named, name: quote(address, safe="")}
        yield name, client.request(method, path.format(**texts))
    for name in queried:
        yield name, client.request(method, path.format(**named), params={name: address})


def test_no_answer_repeats_a_secret(make_client: MakeClient) -> None:
    client = prepared(make_client)
    server = client.app.state.server  # type: ignore[attr-defined]
    jobs: JobQueue = server.jobs_of("local")
    leaks, reached = [], set()
    for place, (method, path) in enumerate(routes(client)):
        for number, address in enumerate(ADDRESSES):
            if (place + number) % 14:
                continue
            for body, answer in answers(client, method, path, address):
                reached |= {path} if answer.status_code != UNREADABLE else set()
                if repeats(answer.text):
                    leaks.append((method, path, body, answer.text[:300]))
            for job in jobs.all():
                jobs.cancel(job.id)
    workspace: Workspace = server.workspace_of("local")
    for file in workspace.folder.rglob("*"):
        text = "" if file.is_dir() else file.read_text("utf-8", errors="replace")
        if repeats(file.name + text):
            leaks.append(("file", str(file), None, text[:300]))
    assert not leaks, leaks[:8]
    unread = {path for _, path in routes(client)} - reached
    assert len(unread) < len(reached) / 10, unread


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"k": ' + "9" * 5000 + "}", '"\\ud800"'], ids=["deep", "long", "half"]
)
def test_body_that_parsers_reject_is_a_client_error(make_client: MakeClient, body: str) -> None:
    client = make_client()
    for method, path in routes(client):
        if method != "get" and "{" not in path:
            answer = client.request(method, path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code < 500, (method, path, answer.text)
