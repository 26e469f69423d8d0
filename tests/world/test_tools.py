"""Each tool once, as literals: request, answer and entities, as `docs/reference/tools.md` says."""

import inspect
import json
import re
from pathlib import Path

import pytest

from undolab.model.ids import seeded_id
from undolab.model.load import read_yaml
from undolab.world import domains

ACC = {"account_id": "acc_1", "name": "Ann", "balance": 100, "status": "ACTIVE"}
AUD = {"audit_id": seeded_id(7, "aud", 1), "entity_id": "acc_1", "action": "look", "details": "at it"}
SUB = {"sub_id": "sub_1", "customer": "Ann", "plan_id": "annual", "paid_periods": 1, "status": "DUE"}
RNW = {"renewal_id": seeded_id(7, "rnw", 1), "sub_id": "sub_1", "plan_id": "annual", "amount_cents": 9}
WIRE = {"wire_id": "w", "source_curr": "USD", "target_curr": "EUR", "amount_cents": 400}
SENT = {"transfer_id": seeded_id(7, "wir", 1), **WIRE, "status": "SETTLED"}
INC = {
    "incident_id": "INC-1",
    "title": "Login fails",
    "severity": "SEV2",
    "status": "OPEN",
    "sla_tier": "STANDARD",
    "team": "web",
}
NOTE = {"note_id": seeded_id(7, "note", 1), "incident_id": "INC-1", "note": "on it"}
SVC = {"service_name": "api", "version": "v1", "color": "blue", "replicas": 3}
GREEN = {"service_name": "api-green", "version": "v2", "color": "green", "replicas": 3}
CUST = {"account_id": "cust_1", "name": "Elm", "status": "ACTIVE", "sla_tier": "STANDARD"}
CNOTE = {"note_id": seeded_id(7, "cnote", 1), "account_id": "cust_1", "note": "called"}
MSG = {"message_id": seeded_id(7, "msg", 1), "channel": "#ops", "message": "hi"}
HOOK = {"target_url": "https://example.com/h", "event_type": "paid", "payload": '{"a": 1}'}
SENT_HOOK = {"delivery_id": seeded_id(7, "dlv", 1), **HOOK}
OBJ = {"bucket_name": "east", "key": "data/a.txt", "size": 6, "etag": "0fbc7403"}
K = {"bucket_name": "west", "key": "k", "size": 1, "etag": "6b86b273"}
# Made from the same bytes with `git hash-object -t commit`.
START, RELEASE, MAIN, PICKED = "bda929f", "76e6c83", "08c7f30", "6de89d3"


def no(code, message):
    return {"code": code, "message": message}


# Each group runs in one fresh world, in order: tool, arguments, answer, entities changed.
GROUPS = {
    "accounts": [
        ("get_account", {"account_id": "acc_1"}, ACC, []),
        ("get_account", {"account_id": "x"}, no("not_found", "no account x"), []),
        (
            "allocate_dividend",
            {"account_id": "acc_1", "dividend": 7},
            {**ACC, "balance": 107},
            ["accounts/acc_1"],
        ),
        (
            "credit_account_balance",
            {"account_id": "acc_1", "amount": 3},
            {**ACC, "balance": 110},
            ["accounts/acc_1"],
        ),
        (
            "deduct_account_balance",
            {"account_id": "acc_1", "amount": 110},
            {**ACC, "balance": 0},
            ["accounts/acc_1"],
        ),
        (
            "deduct_account_balance",
            {"account_id": "acc_1", "amount": 1},
            no("insufficient", "account acc_1 has 0, needs 1"),
            [],
        ),
        (
            "freeze_account",
            {"account_id": "acc_1"},
            {**ACC, "balance": 0, "status": "FROZEN"},
            ["accounts/acc_1"],
        ),
    ],
    "audit": [
        ("list_audit_records", {"entity_id": "acc_1"}, {"items": []}, []),
        (
            "write_audit_record",
            {"entity_id": "acc_1", "action": "look", "details": "at it"},
            AUD,
            [f"audit_records/{AUD['audit_id']}"],
        ),
        ("list_audit_records", {"entity_id": "acc_1"}, {"items": [AUD]}, []),
        ("list_audit_records", {"entity_id": "acc_2"}, {"items": []}, []),
    ],
    "schemas": [
        ("get_schema", {"schema": "billing"}, {"schema": "billing", "version": 1}, []),
        (
            "apply_schema_migration",
            {"schema": "billing", "version": 3},
            no("conflict", "schema billing is at version 1, cannot go to 3"),
            [],
        ),
        (
            "apply_schema_migration",
            {"schema": "billing", "version": 2},
            {"migration_id": "billing-2", "schema": "billing", "version": 2, "status": "APPLIED"},
            ["schema_migrations/billing-2", "schemas/billing"],
        ),
        (
            "apply_schema_migration",
            {"schema": "billing", "version": 2},
            no("already_exists", "migration 2 of billing is already applied"),
            [],
        ),
        (
            "revert_schema_migration",
            {"schema": "billing", "version": 2},
            {"schema": "billing", "version": 1},
            ["schemas/billing", "schema_migrations/billing-2"],
        ),
        (
            "revert_schema_migration",
            {"schema": "billing", "version": 2},
            no("not_found", "no migration billing-2"),
            [],
        ),
    ],
    "subscriptions": [
        ("get_subscription", {"sub_id": "sub_1"}, SUB, []),
        (
            "process_subscription_renewal",
            {"sub_id": "sub_1", "plan_id": "monthly", "amount_cents": 9},
            no("conflict", "subscription sub_1 is on plan annual"),
            [],
        ),
        (
            "process_subscription_renewal",
            {"sub_id": "sub_1", "plan_id": "annual", "amount_cents": 9},
            RNW,
            [f"renewals/{RNW['renewal_id']}", "subscriptions/sub_1"],
        ),
        ("list_renewals", {"sub_id": "sub_1"}, {"items": [RNW]}, []),
        ("get_subscription", {"sub_id": "sub_1"}, {**SUB, "paid_periods": 2, "status": "ACTIVE"}, []),
        (
            "cancel_subscription",
            {"sub_id": "sub_1"},
            {**SUB, "paid_periods": 2, "status": "CANCELLED"},
            ["subscriptions/sub_1"],
        ),
    ],
    "wires": [
        ("get_treasury", {"currency": "USD"}, {"currency": "USD", "balance_cents": 1000}, []),
        ("get_treasury", {"currency": "EUR"}, no("not_found", "no treasury account EUR"), []),
        (
            "execute_wire_transfer",
            {**WIRE, "amount_cents": 1001},
            no("insufficient", "treasury account USD has 1000, needs 1001"),
            [],
        ),
        ("execute_wire_transfer", WIRE, SENT, [f"wires/{SENT['transfer_id']}", "treasury/USD"]),
        ("list_wires", {"wire_id": "w"}, {"items": [SENT]}, []),
        ("get_treasury", {"currency": "USD"}, {"currency": "USD", "balance_cents": 600}, []),
        (
            "recall_wire_transfer",
            {"transfer_id": SENT["transfer_id"]},
            {**SENT, "status": "RECALLED"},
            [f"wires/{SENT['transfer_id']}", "treasury/USD"],
        ),
        (
            "recall_wire_transfer",
            {"transfer_id": SENT["transfer_id"]},
            no("conflict", f"wire {SENT['transfer_id']} is RECALLED"),
            [],
        ),
        ("get_wire", {"transfer_id": SENT["transfer_id"]}, {**SENT, "status": "RECALLED"}, []),
        ("get_treasury", {"currency": "USD"}, {"currency": "USD", "balance_cents": 1000}, []),
    ],
    "ticketing": [
        ("get_incident", {"incident_id": "INC-1"}, INC, []),
        (
            "escalate_incident_sla",
            {"incident_id": "INC-1", "tier": "CRITICAL_15MIN"},
            {**INC, "sla_tier": "CRITICAL_15MIN", "status": "ESCALATED"},
            ["incidents/INC-1"],
        ),
        (
            "add_incident_note",
            {"incident_id": "INC-1", "note": "on it"},
            NOTE,
            [f"incident_notes/{NOTE['note_id']}"],
        ),
        (
            "add_incident_note",
            {"incident_id": "INC-2", "note": "on it"},
            no("not_found", "no incident INC-2"),
            [],
        ),
        ("list_incident_notes", {"incident_id": "INC-1"}, {"items": [NOTE]}, []),
    ],
    "incidents": [
        (
            "assign_incident_team",
            {"incident_id": "INC-1", "team_name": "iam"},
            {**INC, "team": "iam"},
            ["incidents/INC-1"],
        ),
        (
            "set_incident_severity",
            {"incident_id": "INC-1", "severity": "SEV1"},
            {**INC, "team": "iam", "severity": "SEV1"},
            ["incidents/INC-1"],
        ),
        (
            "resolve_incident",
            {"incident_id": "INC-1"},
            {**INC, "team": "iam", "severity": "SEV1", "status": "RESOLVED"},
            ["incidents/INC-1"],
        ),
    ],
    "cloud": [
        ("get_service", {"service_name": "api"}, SVC, []),
        (
            "switch_traffic_routing",
            {"service_name": "api", "target_color": "green"},
            no("precondition_failed", "api has no green service"),
            [],
        ),
        (
            "deploy_green_service",
            {"service_name": "api", "version": "v2"},
            GREEN,
            ["services/api-green", "catalog/api-green"],
        ),
        (
            "switch_traffic_routing",
            {"service_name": "api", "target_color": "green"},
            {"service_name": "api", "active_color": "green"},
            ["routes/api"],
        ),
        ("delete_green_service", {"service_name": "api"}, no("conflict", "api routes to green"), []),
        ("get_route", {"service_name": "api"}, {"service_name": "api", "active_color": "green"}, []),
        (
            "switch_traffic_routing",
            {"service_name": "api", "target_color": "blue"},
            {"service_name": "api", "active_color": "blue"},
            ["routes/api"],
        ),
        (
            "delete_green_service",
            {"service_name": "api"},
            {"service_name": "api-green", "deleted": True},
            ["services/api-green", "catalog/api-green"],
        ),
        ("delete_green_service", {"service_name": "api"}, no("not_found", "no service api-green"), []),
        (
            "scale_service",
            {"service_name": "api", "new_replicas": 0},
            {**SVC, "replicas": 0},
            ["services/api"],
        ),
    ],
    "crm": [
        ("get_crm_account", {"account_id": "cust_1"}, CUST, []),
        (
            "renew_enterprise_sla",
            {"account_id": "cust_1", "sla_tier": "ENTERPRISE_GOLD"},
            {**CUST, "sla_tier": "ENTERPRISE_GOLD"},
            ["crm_accounts/cust_1"],
        ),
        (
            "add_crm_note",
            {"account_id": "cust_1", "note": "called"},
            CNOTE,
            [f"crm_notes/{CNOTE['note_id']}"],
        ),
        ("list_crm_notes", {"account_id": "cust_1"}, {"items": [CNOTE]}, []),
        (
            "suspend_crm_account",
            {"account_id": "cust_1"},
            {**CUST, "sla_tier": "ENTERPRISE_GOLD", "status": "SUSPENDED"},
            ["crm_accounts/cust_1"],
        ),
        ("get_crm_account", {"account_id": "x"}, no("not_found", "no customer account x"), []),
    ],
    "messages": [
        (
            "send_slack_alert",
            {"channel": "#ops", "message": "hi"},
            MSG,
            [f"slack_messages/{MSG['message_id']}"],
        ),
        ("list_channel_messages", {"channel": "#ops"}, {"items": [MSG]}, []),
        (
            "broadcast_sms_notification",
            {"phone_number": "+15550100", "text": "hi"},
            {"sms_id": seeded_id(7, "sms", 1), "phone_number": "+15550100", "text": "hi"},
            [f"sms_messages/{seeded_id(7, 'sms', 1)}"],
        ),
    ],
    "webhooks": [
        (
            "post_webhook_event",
            {**HOOK, "payload": "[1]"},
            no("invalid_arguments", "payload is not a JSON object"),
            [],
        ),
        (
            "post_webhook_event",
            {**HOOK, "payload": "[" * 100_000},
            no("invalid_arguments", "payload is not a JSON object"),
            [],
        ),
        ("post_webhook_event", HOOK, SENT_HOOK, [f"webhooks/{SENT_HOOK['delivery_id']}"]),
        ("list_webhook_deliveries", {"target_url": HOOK["target_url"]}, {"items": [SENT_HOOK]}, []),
    ],
    "pages": [
        ("get_oncall", {"service": "payments"}, {"service": "payments", "engineer": "Kim"}, []),
        (
            "page_oncall_engineer",
            {"service": "payments", "alert_title": "Down", "severity": "P1"},
            {
                "page_id": seeded_id(7, "page", 1),
                "service": "payments",
                "alert_title": "Down",
                "severity": "P1",
            },
            [f"pages/{seeded_id(7, 'page', 1)}"],
        ),
        (
            "page_oncall_engineer",
            {"service": "web", "alert_title": "Down", "severity": "P1"},
            no("not_found", "no on-call entry web"),
            [],
        ),
    ],
    "storage": [
        ("get_object", {"bucket_name": "east", "key": "data/a.txt"}, {**OBJ, "content": "hällo"}, []),
        ("head_object", {"bucket_name": "east", "key": "data/a.txt"}, OBJ, []),
        ("get_object", {"bucket_name": "east", "key": "x"}, no("not_found", "no object east/x"), []),
        ("list_objects", {"bucket_name": "none"}, no("not_found", "no bucket none"), []),
        ("put_object", {"bucket_name": "west", "key": "k", "content": "1"}, K, ["objects/west/k"]),
        (
            "copy_object",
            {"source_bucket": "west", "source_key": "k", "dest_bucket": "east", "dest_key": "k"},
            {**K, "bucket_name": "east"},
            ["objects/east/k", "copy_sources/east/k"],
        ),
        ("list_objects", {"bucket_name": "east"}, {"items": [OBJ, {**K, "bucket_name": "east"}]}, []),
        (
            "delete_object",
            {"bucket_name": "east", "key": "k"},
            {"bucket_name": "east", "key": "k", "deleted": True},
            ["objects/east/k", "copy_sources/east/k"],
        ),
        (
            "set_bucket_access",
            {"bucket_name": "east", "access": "public"},
            {"bucket_name": "east", "access": "public"},
            ["buckets/east"],
        ),
    ],
    "git": [
        ("get_tag", {"tag_name": "v1"}, no("not_found", "no tag v1"), []),
        (
            "cherry_pick_commit",
            {"commit": MAIN, "branch": "release"},
            {"branch": "release", "commit": PICKED, "picked_from": MAIN},
            ["git_branches/release"],
        ),
        (
            "list_commits",
            {"branch": "release"},
            {
                "items": [
                    {"id": PICKED, "subject": "fix", "picked_from": MAIN},
                    {"id": RELEASE, "subject": "release 2", "picked_from": ""},
                    {"id": START, "subject": "start", "picked_from": ""},
                ]
            },
            [],
        ),
        (
            "create_tag",
            {"tag_name": "v1", "branch": "release", "message": "first"},
            {"name": "v1", "target": PICKED, "message": "first"},
            ["git_locks/tags/v1", "git_tags/v1", "git_locks/tags/v1"],
        ),
        (
            "create_tag",
            {"tag_name": "v1", "branch": "main", "message": "again"},
            no("already_exists", "tag 'v1' already exists"),
            [],
        ),
        ("get_tag", {"tag_name": "v1"}, {"name": "v1", "target": PICKED, "message": "first"}, []),
        ("delete_tag", {"tag_name": "v1"}, {"tag_name": "v1", "deleted": True}, ["git_tags/v1"]),
        (
            "create_branch",
            {"branch_name": "dev", "from_branch": "main"},
            {"name": "dev", "head": MAIN},
            ["git_branches/dev"],
        ),
        (
            "create_branch",
            {"branch_name": "dev", "from_branch": "main"},
            no("already_exists", "branch 'dev' already exists"),
            [],
        ),
        ("create_branch", {"branch_name": "x", "from_branch": "no"}, no("not_found", "no branch no"), []),
    ],
}


def _filled(value):
    """Return a case with its ids: `<prefix:n>`, and the names of the commits."""
    text = re.sub(r"<(\w+):(\d)>", lambda m: seeded_id(7, m[1], int(m[2])), json.dumps(value))
    for name, commit_id in COMMITS.items():
        text = re.sub(rf"\b{name}\b", commit_id, text)
    return json.loads(text)


def _answer(value):
    if isinstance(value, dict):
        return value
    code, _, message = value.removeprefix("NO ").partition(": ")
    return no(code, message)


# Made from the same bytes with `git hash-object -t commit`.
COMMITS = {"START": "d5d76ec", "DEV": "eb3d685", "OWN": "23209a9", "COMMIT": "01bd34e", "REVERT": "760f5fe"}
MORE = _filled(read_yaml(Path(__file__).parent / "cases" / "tools.yaml"))


@pytest.mark.parametrize("group", GROUPS)
def test_tools_answer_as_written(world, group):
    """Each request gets the answer of the page and changes the entities of the page, in their order."""
    for n, (tool, arguments, answer, entities) in enumerate(GROUPS[group]):
        outcome = world.call(tool, arguments, attempt=str(n))
        assert outcome.output == answer, (tool, arguments)
        assert outcome.ok is ("code" not in answer)
        assert [effect.entity for effect in outcome.effects] == entities


@pytest.mark.parametrize("group", MORE["groups"])
def test_later_tools_answer_as_written(new_world, group):
    """The same for the cases that stand in a file of their own, over its fixture."""
    world = new_world(fixture=MORE["fixture"])
    for n, (tool, arguments, answer, entities) in enumerate(MORE["groups"][group]):
        outcome = world.call(tool, arguments, attempt=str(n))
        assert outcome.output == _answer(answer), (tool, arguments)
        assert outcome.ok is isinstance(answer, dict)
        assert [effect.entity for effect in outcome.effects] == entities


def test_every_tool_is_in_the_table(tools):
    """No tool is without a literal test, none without code, and none without a spec."""
    groups = [*GROUPS.values(), *MORE["groups"].values()]
    assert {call[0] for calls in groups for call in calls} == domains.HANDLERS.keys() == tools.keys()


def test_composite_tools_are_marked(tools):
    """The specs' count of parts is what the code does."""
    for name, spec in tools.items():
        assert (spec.sub_writes > 1) is inspect.isgeneratorfunction(domains.HANDLERS[name]), name
        assert spec.domain in domains.TABLES
