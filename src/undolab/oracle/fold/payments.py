"""The payments domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "subscriptions": Table("subscription", ("sub_id",)),
    "renewals": Table("renewal", ("renewal_id",), "rnw"),
    "treasury": Table("treasury account", ("currency",)),
    "wires": Table("wire", ("transfer_id",), "wir"),
    "charges": Table("charge", ("charge_id",)),
    "refunds": Table("refund", ("refund_id",), "rfd"),
    "payouts": Table("payout", ("disbursement_id",), "pay"),
    "ledger_accounts": Table("ledger account", ("account",)),
    "journal": Table("journal entry", ("entry_id",), "jrn"),
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


def _get_charge(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("charges", args["charge_id"])


def _list_refunds(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("refunds", charge_id=args["charge_id"])


def _get_refund(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("refunds", args["refund_id"])


def _list_payouts(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("payouts", payout_id=args["payout_id"])


def _get_payout(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("payouts", args["disbursement_id"])


def _get_renewal(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("renewals", args["renewal_id"])


def _get_ledger_account(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("ledger_accounts", args["account"])


def _list_journal_entries(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("journal", debit_account=args["debit_account"])


def _refund_charge(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    charge_id, amount = args["charge_id"], args["amount_cents"]
    charge = store.need("charges", charge_id)
    left = charge["amount_cents"] - charge["refunded_cents"]
    if amount > left:
        raise Refused("insufficient", f"charge {charge_id} has {left} left, needs {amount}")
    refund = store.append("refunds", charge_id=charge_id, amount_cents=amount, status="SUCCEEDED")
    store.change("charges", charge_id, refunded_cents=charge["refunded_cents"] + amount)
    return refund


def _reverse_refund(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    refund_id = args["refund_id"]
    refund = store.need("refunds", refund_id)
    if refund["status"] != "SUCCEEDED":
        raise Refused("conflict", f"refund {refund_id} is {refund['status']}")
    reversed_row = store.change("refunds", refund_id, status="REVERSED")
    charge = store.get("charges", refund["charge_id"])
    if charge is not None:
        refunded = charge["refunded_cents"] - refund["amount_cents"]
        store.change("charges", refund["charge_id"], refunded_cents=refunded)
    return reversed_row


def _disburse_split_payout(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.append(
        "payouts",
        payout_id=args["payout_id"],
        merchant_id=args["merchant_id"],
        amount_cents=args["amount_cents"],
        status="PAID",
    )


def _reverse_payout(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    payout = args["disbursement_id"]
    status = store.need("payouts", payout)["status"]
    if status != "PAID":
        raise Refused("conflict", f"payout {payout} is {status}")
    return store.change("payouts", payout, status="REVERSED")


def _reverse_renewal(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    renewal_id = args["renewal_id"]
    sub_id = store.need("renewals", renewal_id)["sub_id"]
    store.remove("renewals", renewal_id)
    subscription = store.get("subscriptions", sub_id)
    if subscription is not None:
        periods = subscription["paid_periods"] - 1
        store.change("subscriptions", sub_id, paid_periods=periods)
    return {"renewal_id": renewal_id, "deleted": True}


def _resume_subscription(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("subscriptions", args["sub_id"])
    return store.change("subscriptions", args["sub_id"], status="ACTIVE")


def _post_journal_entry(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    debit, credit, amount = args["debit_account"], args["credit_account"], args["amount_cents"]
    store.need("ledger_accounts", debit)
    store.need("ledger_accounts", credit)
    if debit == credit:
        raise Refused("conflict", "an entry needs two accounts")
    entry = store.append(
        "journal",
        debit_account=debit,
        credit_account=credit,
        amount_cents=amount,
        kind=args["kind"],
        memo=args["memo"],
    )
    for account, change in ((debit, -amount), (credit, amount)):
        balance = store.need("ledger_accounts", account)["balance_cents"]
        store.change("ledger_accounts", account, balance_cents=balance + change)
    return entry


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
    "get_charge": _get_charge,
    "list_refunds": _list_refunds,
    "get_refund": _get_refund,
    "list_payouts": _list_payouts,
    "get_payout": _get_payout,
    "get_renewal": _get_renewal,
    "get_ledger_account": _get_ledger_account,
    "list_journal_entries": _list_journal_entries,
    "refund_charge": _refund_charge,
    "reverse_refund": _reverse_refund,
    "disburse_split_payout": _disburse_split_payout,
    "reverse_payout": _reverse_payout,
    "reverse_renewal": _reverse_renewal,
    "resume_subscription": _resume_subscription,
    "post_journal_entry": _post_journal_entry,
}
