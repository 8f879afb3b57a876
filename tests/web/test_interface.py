"""The OpenAPI description: complete, self-contained, and consistent with the server's answers."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, Phase, given, settings

from discreet.web.job_queue import JobQueue
from discreet.web.workspace import Workspace
from tests.waiting import PATIENCE
from tests.web.conftest import ORIGIN, Client, MakeClient

ROWS = "age,city,disease\n" + "".join(f"{20 + i % 5},{'ABC'[i % 3]},{'xyz'[i % 3]}\n" for i in range(30))
DOCUMENT: dict[str, Any] = {
    "source": {"path": "people.csv"},
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10]}},
        "city": {"role": "quasi-identifier"},
        "disease": {"role": "sensitive"},
    },
    "request": {"k": 2, "max_suppressed": "10%"},
}
WORDS = ["age", "city", "disease", "people.csv", "uploads/people.csv", "people", "A", "20", "local"]
SQL = "SELECT COUNT(*) FROM release WHERE age >= 22 GROUP BY city"


def prepared(make_client: MakeClient) -> Client:
    """Return a client of a workbench with a spec, an evaluated lattice, a chosen node and a release."""
    client = make_client()
    workspace: Workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    (workspace.folder / "people.csv").write_text(ROWS)
    (workspace.uploads / "people.csv").write_text(ROWS)
    workspace.save_spec(DOCUMENT)
    finished(client, client.post("/api/negotiate/evaluation"))
    levels = {"age": 1, "city": 1}
    body = {"model": "full-domain", "name": "people.csv", "levels": levels, "k": 2, "max_suppressed": "10%"}
    finished(client, client.post("/api/publish/jobs", json=body))
    return client


def finished(client: Client, answer: Any) -> None:
    """Wait for the job that an answer names; the job must succeed."""
    assert answer.status_code in (200, 202), answer.text
    jobs: JobQueue = client.app.state.server.jobs_of("local")  # type: ignore[attr-defined]
    if answer.json()["job"] is not None:
        assert jobs.wait(answer.json()["job"], PATIENCE).error is None


def grounded(value: Any, choose: random.Random) -> Any:
    """Replace most texts of a value by words that are meaningful to the server."""
    if isinstance(value, dict):
        return {key: SQL if key == "sql" else grounded(item, choose) for key, item in value.items()}
    if isinstance(value, list):
        return [grounded(item, choose) for item in value]
    return choose.choice(WORDS) if isinstance(value, str) and choose.random() < 0.7 else value


def test_every_route_is_described(client: Client) -> None:
    found = client.get("/openapi.json").json()
    tags = {tag["name"] for tag in found["tags"]}
    assert all(tag["description"] for tag in found["tags"])
    seen = set()
    for path, operations in found["paths"].items():
        assert path.startswith("/api/")
        for method, operation in operations.items():
            where = f"{method} {path}"
            seen |= set(operation["tags"])
            assert set(operation["tags"]) <= tags, where
            assert operation["summary"] and operation["description"], where  # noqa: PT018
            success = [s for s in operation["responses"] if s.startswith("2")]
            assert success, where
            if path != "/api/health":
                error = operation["responses"]["401"]["content"]["application/json"]["schema"]
                assert error == {"$ref": "#/components/schemas/ErrorAnswer"}, where
            for parameter in operation.get("parameters", []):
                assert parameter["in"] in ("path", "query"), where
    assert seen == tags
    assert not re.search(r"https?://", client.get("/openapi.json").text)


def test_routes_are_shared_and_static_files_come_first(make_client: MakeClient) -> None:
    """The first page requests a hundred scripts and waits for no route to be built."""
    first, second = make_client().app.routes, make_client().app.routes  # type: ignore[attr-defined]
    assert first[0].path == "/static"
    made = [route for route in first if isinstance(route, APIRoute)]
    assert made
    assert all(any(route is other for other in second) for route in made)


def test_pages_of_the_framework_are_disabled(client: Client) -> None:
    for path in ("/docs", "/redoc", "/docs/oauth2-redirect"):
        assert client.get(path).status_code == 404
    page = client.get("/api-docs").text
    assert not re.search(r"https?://", page)
    assert "<style" not in page


STATIC = Path(__file__).resolve().parents[2] / "src" / "discreet" / "web" / "static"


def test_lines_of_modules_are_short() -> None:
    """The formatter wraps code, but neither texts nor comments."""
    width = 120
    found = [
        f"{path.relative_to(STATIC)}:{number}"
        for path in sorted(STATIC.rglob("*.js"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > width
    ]
    assert found == []


def test_static_files_name_no_other_address() -> None:
    allowed = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    found = {}
    for path in STATIC.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            found[path.name] = set(re.findall(r"https?://[^\s\"'`)]+", text)) - allowed
            assert "eval(" not in text, path
            assert not re.search(r"\bstyle=[\"']|\son\w+=[\"']|<script>(?!\s*</)", text), path
    assert {name: urls for name, urls in found.items() if urls} == {}


def conform(client: Client, examples: int) -> None:
    """Send generated requests to every route; no answer is a server error, each one conforms."""
    import schemathesis

    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    problems = []
    for result in schema.get_all_operations():
        try:
            try_operation(client, result.ok(), examples)
        except Exception as error:
            problems.append(f"{result.ok().label}: {describe(error)}")
    assert problems == []


def describe(error: BaseException) -> str:
    found = getattr(error, "exceptions", [error])
    return " | ".join(re.sub(r"\s+", " ", str(each))[:600] for each in found)


def try_operation(client: Client, operation: Any, examples: int) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    described = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    server = client.app.state.server  # type: ignore[attr-defined]
    choose = random.Random(operation.label)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy())
    def answers(case: Any) -> None:
        if isinstance(case.body, dict | list):
            case.body = grounded(case.body, choose)
        case.path_parameters = grounded(dict(case.path_parameters or {}), choose)
        arguments = case.as_transport_kwargs(base_url=ORIGIN)
        token = server.sessions.open("local", "token")
        headers = {"cookie": f"discreet_8765={token}", "origin": ORIGIN}
        request = {key: arguments.get(key) for key in ("params", "json", "data")}
        if isinstance(request["data"], bytes):
            request["content"] = request.pop("data")
        media = {"content-type": case.media_type} if case.media_type else {}
        answer = client.request(
            arguments["method"], arguments["url"], headers={**media, **headers}, **request
        )
        case.validate_response(answer, checks=described)

    answers()
    jobs: JobQueue = server.jobs_of("local")
    for job in jobs.all():
        jobs.cancel(job.id)
    jobs.close(5)


def test_generated_requests_conform_to_the_schema(make_client: MakeClient) -> None:
    conform(prepared(make_client), examples=1)


@pytest.mark.slow
def test_many_generated_requests_conform_to_the_schema(make_client: MakeClient) -> None:
    conform(prepared(make_client), examples=60)
