"""Screen 3, Hierarchies: files of a folder, matched with the quasi-identifiers by name and by value."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.hierarchy.messages import shown
from discreet.screens.hierarchy_view import hierarchy_of_text, text_of_hierarchy
from discreet.screens.ready_hierarchies import FileMatch, match_texts
from discreet.web.dependencies import CurrentWorkspace
from discreet.web.hierarchy_forms import FilesBody, MatchesAnswer, MatchFacts
from discreet.web.hierarchy_saving import attribute_of, write_hierarchies
from discreet.web.paths import safe_name
from discreet.web.problems import RESPONSES, FieldError
from discreet.web.studies import study_of

router = APIRouter(prefix="/api/hierarchies", tags=["hierarchies"], responses=RESPONSES)


@router.post("/files", summary="Match files")
def match(body: FilesBody, workspace: CurrentWorkspace) -> MatchesAnswer:
    """Which quasi-identifier each file fits, by its name or by the values in it, or why it fits none."""
    study, spec = study_of(workspace), workspace.spec()
    generalized = [attribute.name for attribute in spec.quasi_identifiers]
    others = {a.name: str(a.role) for a in spec.attributes if a.name not in generalized}
    matches = match_texts(_texts(body), study, others, generalized)
    return MatchesAnswer(matches=[_facts(each) for each in matches])


@router.put("/files", summary="Use files")
def use(body: FilesBody, workspace: CurrentWorkspace) -> MatchesAnswer:
    """Some of the files become the hierarchies of some quasi-identifiers, all of them as one change."""
    study, texts, written = study_of(workspace), _texts(body), {}
    for name, file in body.use.items():
        attribute_of(workspace, name)
        built, problems = hierarchy_of_text(name, texts.get(safe_name(file), ""), study.values(name)[0])
        if built is None:
            first = problems[0]
            raise FieldError(f"{shown(file)}: {first.message}", field="files", advice=first.advice or None)
        written[name] = text_of_hierarchy(built)
    write_hierarchies(workspace, written)
    return MatchesAnswer(matches=[])


def _facts(found: FileMatch) -> MatchFacts:
    return MatchFacts(
        name=found.path.name, columns=list(found.columns), reason=found.reason, levels=found.height
    )


def _texts(body: FilesBody) -> dict[str, str]:
    """The texts by harmless names, each of which ends as hierarchy files do."""
    found: dict[str, str] = {}
    for each in body.files:
        name = safe_name(each.name, field="files")
        if name in found:
            raise FieldError(f"two files are called {shown(name)}", field="files")
        found[name] = each.text
    return found
