"""The payments domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "subscriptions": Table("subscription", ("sub_id",)),
    "renewals": Table("renewal", ("renewal_id",), "rnw"),
    "treasury": Table("treasury account", ("currency",)),
    "wires": Table("wire", ("transfer_id",), "wir"),
}


def _get_subscription(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("subscriptions", args["sub_id"])


def _list_renewals(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("renewals", sub_id=args["sub_id"])


def _get_treasury(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("treasury", args["currency"])


def _list_wires(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("wires", wire_id=args["wire_id"])


def _get_wire(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("wires", args["transfer_id"])


def _process_subscription_renewal(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    sub_id, plan_id = args["sub_id"], args["plan_id"]
    subscription = store.need("subscriptions", sub_id)
    if plan_id != subscription["plan_id"]:
        raise Refused("conflict", f"subscription {sub_id} is on plan {subscription['plan_id']}")
    renewal = store.append("renewals", sub_id=sub_id, plan_id=plan_id, amount_cents=args["amount_cents"])
    periods = subscription["paid_periods"] + 1
    store.change("subscriptions", sub_id, paid_periods=periods, status="ACTIVE")
    return renewal


def _cancel_subscription(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("subscriptions", args["sub_id"])
    return store.change("subscriptions", args["sub_id"], status="CANCELLED")


def _execute_wire_transfer(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    source, amount = args["source_curr"], args["amount_cents"]
    balance = store.need("treasury", source)["balance_cents"]
    if balance < amount:
        raise Refused("insufficient", f"treasury account {source} has {balance}, needs {amount}")
    wire = store.append(
        "wires",
        wire_id=args["wire_id"],
        source_curr=source,
        target_curr=args["target_curr"],
        amount_cents=amount,
        status="SETTLED",
    )
    store.change("treasury", source, balance_cents=balance - amount)
    return wire


def _recall_wire_transfer(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    transfer_id = args["transfer_id"]
    wire = store.need("wires", transfer_id)
    if wire["status"] != "SETTLED":
        raise Refused("conflict", f"wire {transfer_id} is {wire['status']}")
    recalled = store.change("wires", transfer_id, status="RECALLED")
    treasury = store.get("treasury", wire["source_curr"])
    if treasury is not None:
        balance = treasury["balance_cents"] + wire["amount_cents"]
        store.change("treasury", wire["source_curr"], balance_cents=balance)
    return recalled


HANDLERS: dict[str, Handler] = {
    "get_subscription": _get_subscription,
    "list_renewals": _list_renewals,
    "get_treasury": _get_treasury,
    "list_wires": _list_wires,
    "get_wire": _get_wire,
    "process_subscription_renewal": _process_subscription_renewal,
    "cancel_subscription": _cancel_subscription,
    "execute_wire_transfer": _execute_wire_transfer,
    "recall_wire_transfer": _recall_wire_transfer,
}
