"""Checks across the parts of a workflow, and what lint adds to them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.check import check_tools, check_workflow, require
from undolab.model.errors import UndolabError
from undolab.model.lint import leaks, lint, unreadable
from undolab.model.load import load_tools, load_workflow, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow

ROOT = Path(__file__).parents[2]
TOOLS = load_tools(ROOT / "data/tools")
ALL = load_workflows(ROOT / "data/workflows")
TEST_IDS = (
    "RB-CLOUD-004 RB-CRM-004 RB-DB-004 RB-DB-005 RB-GIT-004 RB-MSG-004 RB-MSG-005 RB-PAY-004 RB-PAY-005 RB-STOR-004 "
    "RB-STOR-005 RB-TICK-004"
).split()
DEV_IDS = (
    "RB-CLOUD-002 RB-CLOUD-003 RB-CRM-002 RB-CRM-003 RB-DB-001 RB-DB-003 RB-GIT-001 RB-GIT-003 RB-MSG-001 RB-MSG-003 "
    "RB-PAY-002 RB-PAY-003 RB-STOR-001 RB-TICK-002"
).split()
VALIDATION_IDS = (
    "RB-CLOUD-001 RB-CRM-001 RB-DB-002 RB-GIT-002 RB-MSG-002 RB-PAY-001 RB-STOR-002 RB-STOR-003 RB-TICK-001 RB-TICK-003"
).split()
PUBLISHED = (
    "deduct_account_balance credit_account_balance allocate_dividend upgrade_customer_tier write_audit_record create_order "
    "reserve_inventory apply_schema_migration refund_charge disburse_split_payout process_subscription_renewal "
    "execute_wire_transfer post_journal_entry write_workspace_file commit_changes create_branch merge_branch create_tag "
    "update_incident_status assign_incident_team resolve_incident escalate_incident_sla dispatch_oncall_page "
    "dispatch_resolution_notice scale_service sync_discovery_catalog provision_cluster_tier drain_and_terminate "
    "deploy_green_service switch_traffic_routing convert_lead_status queue_welcome_sequence advance_opportunity_stage "
    "update_rep_quota merge_customer_accounts renew_enterprise_sla send_slack_alert broadcast_sms_notification "
    "post_webhook_event page_oncall_engineer send_batch_email put_object delete_object copy_object upload_part "
    "complete_multipart_upload storage_upload"
).split()
Change = Callable[[dict[str, Any]], object]


def changed(change: Change, name: str = "test/RB-DB-004") -> Workflow:
    data = msgspec.to_builtins(load_workflow(ROOT / f"data/workflows/{name}.yaml"))
    change(data)
    return msgspec.convert(data, Workflow)


def broken_tool(name: str, **fields: Any) -> dict[str, ToolSpec]:
    return {**TOOLS, name: msgspec.structs.replace(TOOLS[name], **fields)}


def test_the_thirty_six_are_there() -> None:
    """Each split is the published one, by id, and so are the counts of complexity and reversibility."""
    for split, ids in (("dev", DEV_IDS), ("validation", VALIDATION_IDS), ("test", TEST_IDS)):
        assert [workflow.id for workflow in load_workflows(ROOT / "data/workflows", split)] == ids
    assert Counter(w.complexity for w in ALL) == {"C1": 8, "C2": 18, "C3": 9, "C4": 1}
    assert Counter(w.reversibility.value for w in ALL) == {
        "COMPENSATABLE": 24,
        "IRREVERSIBLE": 8,
        "REVERSIBLE": 4,
    }


def test_eight_plans_and_more_cross_domains() -> None:
    """At least eight plans call tools of two domains."""
    assert sum(len({TOOLS[step.tool].domain for step in w.plan}) > 1 for w in ALL) >= 8


def test_the_tools_of_the_published_table_are_there() -> None:
    """Every published tool exists, and each domain has readers."""
    assert set(PUBLISHED) <= TOOLS.keys()
    assert {tool.domain for tool in TOOLS.values() if not tool.writes} == {t.domain for t in TOOLS.values()}


@pytest.mark.parametrize("workflow", ALL, ids=lambda w: w.id)
def test_shipped_workflows_lint_clean(workflow: Workflow) -> None:
    """Every shipped workflow fits the tools, is solvable, and leaks nothing."""
    assert lint(workflow, TOOLS) == []


def test_shipped_tools_are_sound() -> None:
    """Every shipped tool and its observer fit each other."""
    assert check_tools(TOOLS) == []
    require(ALL, TOOLS)


@pytest.mark.parametrize("workflow", ALL, ids=lambda w: w.id)
def test_every_writing_step_is_an_effect_and_a_target(workflow: Workflow) -> None:
    """Each writing call of the plan is required once and can be aimed at."""
    writes = [step.tool for step in workflow.plan if TOOLS[step.tool].writes]
    assert sorted(effect.tool for effect in workflow.effects) == sorted(writes)
    assert {scenario.effect for scenario in workflow.scenarios} == {effect.id for effect in workflow.effects}
    assert 3 <= len(workflow.plan) <= 6


@pytest.mark.parametrize(
    ("change", "at", "part"),
    [
        (lambda d: d["tools"].append("fly"), "/tools/5", "no tool fly"),
        (lambda d: d["tools"].append("get_schema"), "/tools", "stands 2 times"),
        (lambda d: d["tools"].remove("revert_schema_migration"), "/tools", "no distractor"),
        (lambda d: d["plan"][0].update(tool="get_wire"), "/plan/0/tool", "not among"),
        (
            lambda d: d["plan"][1]["arguments"].update(version="2"),
            "/plan/1/arguments/version",
            "must be integer",
        ),
        (lambda d: d["plan"][1]["arguments"].update(more=1), "/plan/1/arguments/more", "not known"),
        (lambda d: d["effects"][0].update(tool="get_schema"), "/effects/0/tool", "does not write"),
        (lambda d: d["effects"][0].update(min=2), "/effects/0", "min <= max"),
        (lambda d: d["effects"][0].update(arguments={"version": 3}), "/effects/0", "no call of the plan"),
        (lambda d: d["effects"][1].update(id="migration"), "/effects", "stands 2 times"),
        (lambda d: d["forbidden"][0].update(tool="delete_object"), "/forbidden/0/tool", "not among"),
        (lambda d: d.update(order=[["audit", "none"]]), "/order/0/1", "no effect none"),
        (lambda d: d.update(goal=[]), "/goal", "is empty"),
        (lambda d: d["goal"][0].update(row=None), "/goal/0", "needs a row"),
        (lambda d: d["goal"][2].update(row="x"), "/goal/2", "a count has no row"),
        (lambda d: d["goal"][0].update(check="present"), "/goal/0", "neither column nor value"),
        (lambda d: d["goal"][0].update(check="json_equals", column=None), "/goal/0/column", "is missing"),
        (lambda d: d.update(scenarios=[]), "/scenarios", "is empty"),
        (lambda d: d["scenarios"][0].update(tool="get_schema"), "/scenarios/0/tool", "does not write"),
        (lambda d: d["scenarios"][0].update(effect="none"), "/scenarios/0/effect", "no effect none"),
        (
            lambda d: d["scenarios"][0].update(effect="audit"),
            "/scenarios/0/effect",
            "made by write_audit_record",
        ),
        (lambda d: d["scenarios"][0].update(match={"version": 9}), "/scenarios/0", "0 calls match"),
        (lambda d: d["plan"].append(d["plan"][1]), "/scenarios/0", "2 calls match"),
        (lambda d: d["scenarios"][0].update(nth=2), "/scenarios/0", "nth 1"),
        (lambda d: d.update(max_turns=4), "/max_turns", "leaves no turn"),
    ],
)
def test_each_disagreement_is_found(change: Change, at: str, part: str) -> None:
    """A workflow whose parts disagree is named at the part."""
    found = check_workflow(changed(change), TOOLS)
    assert any(where == at and part in text for where, text in found), found


def test_no_reader_is_found() -> None:
    """A workflow without any reader is named."""

    def only_writers(data: dict[str, Any]) -> None:
        data["tools"] = [name for name in data["tools"] if TOOLS[name].writes]

    assert ("/tools", "holds no reader") in check_workflow(changed(only_writers), TOOLS)


@pytest.mark.parametrize(
    ("tools", "at"),
    [
        (broken_tool("get_account", sub_writes=2), "/get_account"),
        (broken_tool("allocate_dividend", reversibility=None), "/allocate_dividend/reversibility"),
        (broken_tool("get_account", parameters={"type": "object"}), "/get_account/parameters"),
        (
            broken_tool(
                "get_account", parameters={"type": "object", "additionalProperties": False, "oneOf": []}
            ),
            "/get_account/parameters",
        ),
        ({k: v for k, v in TOOLS.items() if k != "get_tag"}, "/create_tag/observe/tool"),
    ],
)
def test_unsound_tools_are_found(tools: dict[str, ToolSpec], at: str) -> None:
    """A tool that contradicts itself, or whose observer cannot be called, is named."""
    assert at in [where for where, _ in check_tools(tools)]


@pytest.mark.parametrize(
    ("name", "schema", "what"),
    [
        ("note", {"type": "string", "pattern": "x"}, "'pattern'"),
        ("note", {"type": "array", "items": {"type": "string", "format": "date"}}, "'format'"),
        (
            "note",
            {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"not": {}}}}]},
            "'not'",
        ),
        ("note", {"type": ["string", "null"]}, "type"),
        ("note", {"type": "text"}, "type 'text'"),
        ("note", {"$ref": "#/$defs/gone"}, "names nothing"),
        ("note", "string", "must be a mapping"),
        ("a b", {"type": "string"}, "no name for an argument"),
        ("a\b", {"type": "string"}, "no name for an argument"),
        ("", {"type": "string"}, "no name for an argument"),
    ],
)
def test_a_schema_beyond_the_checker_is_named_by_its_property(name: str, schema: Any, what: str) -> None:
    """Keywords, types, references and names that no checker or grammar takes are found at any depth, with their place."""
    parameters = TOOLS["get_account"].parameters
    properties = {**parameters["properties"], name: schema}
    found = check_tools(broken_tool("get_account", parameters={**parameters, "properties": properties}))
    assert [where for where, _ in found] == [f"/get_account/parameters/properties/{name}"]
    assert what in found[0][1]


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"arguments": {}}, "arguments"),
        ({"field": ""}, "field"),
        ({"by": None}, "by"),
        ({"tool": "freeze_account"}, "tool"),
    ],
)
def test_unsound_observers_are_found(fields: dict[str, Any], at: str) -> None:
    """An observer without its reader, arguments, field or step is named."""
    observe = TOOLS["allocate_dividend"].observe
    assert observe is not None
    tools = broken_tool("allocate_dividend", observe=msgspec.structs.replace(observe, **fields))
    assert [where for where, _ in check_tools(tools)] == [f"/allocate_dividend/observe/{at}"]


@pytest.mark.parametrize(
    ("name", "fields", "at"),
    [
        ("freeze_account", {"tool": "get_account"}, "inverse/tool"),
        ("freeze_account", {"arguments": {}}, "inverse/arguments"),
        ("freeze_account", {"arguments": {"account_id": "{acc}"}}, "inverse/arguments"),
        ("broadcast_sms_notification", {"arguments": {"account_id": "{text}"}}, "inverse"),
    ],
)
def test_unsound_inverses_are_found(name: str, fields: dict[str, Any], at: str) -> None:
    """An inverse that does not write, lacks an argument, names an unknown one, or stands at an irreversible tool is named."""
    inverse = TOOLS["freeze_account"].inverse
    assert inverse is not None
    tools = broken_tool(name, inverse=msgspec.structs.replace(inverse, **fields))
    assert [where for where, _ in check_tools(tools)] == [f"/{name}/{at}"]


def test_an_inverse_needs_the_read_it_speaks_of() -> None:
    """What stands before the write is known from the observer alone."""
    found = check_tools(broken_tool("scale_service", observe=None))
    assert found == [("/scale_service/inverse/arguments", "before.replicas needs observe")]


def test_require_lists_everything() -> None:
    """One error carries a line for each problem of tools and workflows."""
    bad = changed(lambda d: (d.update(goal=[]), d.update(scenarios=[])))
    with pytest.raises(UndolabError) as caught:
        require([bad], broken_tool("get_account", sub_writes=2))
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("change", "value"),
    [
        (lambda d: d["plan"][2]["arguments"].update(details="version 3"), "version 3"),
        (lambda d: d["plan"][1]["arguments"].update(version=25), "25"),
        (lambda d: d.update(objective="Bring billing up."), "migrate"),
    ],
)
def test_arguments_that_nobody_could_know(change: Change, value: str) -> None:
    """A plan argument that is neither in the objective nor readable is named."""
    workflow = changed(lambda d: (change(d), d["tools"].remove("list_audit_records")))
    allowed = {name: TOOLS[name] for name in workflow.tools}
    assert any(repr(value) in text for _, text in unreadable(workflow, allowed))


def test_json_arguments_are_looked_up_leaf_by_leaf() -> None:
    """The new flags are known from the old ones and the objective; another flag would not be."""

    def another(data: dict[str, Any]) -> None:
        data["plan"][1]["arguments"]["content"] = '{"feature_x": true, "limit": 5, "dark": 1}'

    assert unreadable(changed(lambda d: None, "test/RB-STOR-005"), TOOLS) == []
    found = unreadable(changed(another, "test/RB-STOR-005"), TOOLS)
    assert [at for at, _ in found] == ["/plan/1/arguments/content"]


@pytest.mark.parametrize(
    "text",
    [
        "Retry if it fails.",
        "Do it again.",
        "Verify the result.",
        "This is RB-DB-004.",
        "After POST_MUTATION_PRE_ACK go on.",
        "Never do it twice.",
        "Roll back at the end.",
        "Handle timeouts.",
    ],
)
def test_leaks_are_found(text: str) -> None:
    """A word of recovery, a boundary or a task's id in a text for the agent is named."""
    assert [at for at, _ in leaks(changed(lambda d: d.update(objective=text)), {})] == ["/objective"]
    assert [at for at, _ in leaks(changed(lambda d: d["plan"][0].update(say=text)), {})] == ["/plan/0/say"]


def test_long_texts_are_found() -> None:
    """An objective beyond 60 words or a step beyond ten is named."""
    found = leaks(changed(lambda d: (d.update(objective="a " * 61), d["plan"][0].update(say="a " * 11))), {})
    assert [at for at, _ in found] == ["/objective", "/plan/0/say"]
