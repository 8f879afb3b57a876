"""Bodies that JSON parsers reject are refused as client errors."""

from __future__ import annotations

import pytest

from tests.web.conftest import MakeClient
from tests.web.test_no_secret import routes


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"a":' * 100_000, '{"k": ' + "9" * 5000 + "}", "{", '"\\ud800"']
)
def test_a_body_of_any_json_is_refused(make_client: MakeClient, body: str) -> None:
    client = make_client()
    for method, path in routes(client):
        if method != "get" and "{" not in path:
            answer = client.request(method, path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code < 500, (method, path, answer.text)
