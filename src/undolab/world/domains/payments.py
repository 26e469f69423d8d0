"""The payment service: subscriptions, charges with their refunds, payouts, treasury accounts with their wires, the ledger."""

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

SUBSCRIPTIONS = Table(
    "subscriptions",
    "subscription",
    {"sub_id": str, "customer": str, "plan_id": str, "paid_periods": int, "status": str},
)
RENEWALS = Table(
    "renewals",
    "renewal",
    {"renewal_id": str, "sub_id": str, "plan_id": str, "amount_cents": int},
    prefix="rnw",
)
TREASURY = Table("treasury", "treasury account", {"currency": str, "balance_cents": int})
WIRES = Table(
    "wires",
    "wire",
    {
        "transfer_id": str,
        "wire_id": str,
        "source_curr": str,
        "target_curr": str,
        "amount_cents": int,
        "status": str,
    },
    prefix="wir",
)
CHARGES = Table(
    "charges",
    "charge",
    {"charge_id": str, "customer": str, "amount_cents": int, "refunded_cents": int, "status": str},
)
REFUNDS = Table(
    "refunds",
    "refund",
    {"refund_id": str, "charge_id": str, "amount_cents": int, "status": str},
    prefix="rfd",
)
PAYOUTS = Table(
    "payouts",
    "payout",
    {"disbursement_id": str, "payout_id": str, "merchant_id": str, "amount_cents": int, "status": str},
    prefix="pay",
)
LEDGER = Table("ledger_accounts", "ledger account", {"account": str, "balance_cents": int})
JOURNAL = Table(
    "journal",
    "journal entry",
    {
        "entry_id": str,
        "debit_account": str,
        "credit_account": str,
        "amount_cents": int,
        "kind": str,
        "memo": str,
    },
    prefix="jrn",
)
TABLES = (SUBSCRIPTIONS, RENEWALS, TREASURY, WIRES, CHARGES, REFUNDS, PAYOUTS, LEDGER, JOURNAL)


def get_subscription(tx: Tx, args: Row) -> Row:
    """Answer one subscription."""
    return tx.get(SUBSCRIPTIONS, args["sub_id"])


def list_renewals(tx: Tx, args: Row) -> Row:
    """Answer the renewals of one subscription."""
    return {"items": tx.where(RENEWALS, "sub_id", args["sub_id"])}


def get_treasury(tx: Tx, args: Row) -> Row:
    """Answer the treasury account of one currency."""
    return tx.get(TREASURY, args["currency"])


def list_wires(tx: Tx, args: Row) -> Row:
    """Answer the wires that carry one customer reference."""
    return {"items": tx.where(WIRES, "wire_id", args["wire_id"])}


def get_wire(tx: Tx, args: Row) -> Row:
    """Answer one wire."""
    return tx.get(WIRES, args["transfer_id"])


def process_subscription_renewal(tx: Tx, args: Row) -> Row:
    """Book one more paid period."""
    sub_id, plan_id = args["sub_id"], args["plan_id"]
    row = tx.get(SUBSCRIPTIONS, sub_id)
    if plan_id != row["plan_id"]:
        raise ToolError("conflict", f"subscription {sub_id} is on plan {row['plan_id']}")
    renewal = tx.append(RENEWALS, sub_id=sub_id, plan_id=plan_id, amount_cents=args["amount_cents"])
    tx.change(SUBSCRIPTIONS, row, paid_periods=row["paid_periods"] + 1, status="ACTIVE")
    return renewal


def cancel_subscription(tx: Tx, args: Row) -> Row:
    """Mark a subscription as cancelled."""
    return tx.change(SUBSCRIPTIONS, tx.get(SUBSCRIPTIONS, args["sub_id"]), status="CANCELLED")


def execute_wire_transfer(tx: Tx, args: Row) -> Row:
    """Send a wire and take its amount from the treasury."""
    currency, amount = args["source_curr"], args["amount_cents"]
    treasury = tx.get(TREASURY, currency)
    balance = treasury["balance_cents"]
    if balance < amount:
        raise ToolError("insufficient", f"treasury account {currency} has {balance}, needs {amount}")
    wire = tx.append(
        WIRES,
        wire_id=args["wire_id"],
        source_curr=currency,
        target_curr=args["target_curr"],
        amount_cents=amount,
        status="SETTLED",
    )
    tx.change(TREASURY, treasury, balance_cents=balance - amount)
    return wire


def recall_wire_transfer(tx: Tx, args: Row) -> Row:
    """Call a settled wire back and return its amount to the treasury, where that account is ours."""
    wire = tx.get(WIRES, args["transfer_id"])
    if wire["status"] != "SETTLED":
        raise ToolError("conflict", f"wire {args['transfer_id']} is {wire['status']}")
    recalled = tx.change(WIRES, wire, status="RECALLED")
    treasury = tx.find(TREASURY, wire["source_curr"])
    if treasury is not None:
        tx.change(TREASURY, treasury, balance_cents=treasury["balance_cents"] + wire["amount_cents"])
    return recalled


def get_charge(tx: Tx, args: Row) -> Row:
    """Answer one charge."""
    return tx.get(CHARGES, args["charge_id"])


def list_refunds(tx: Tx, args: Row) -> Row:
    """Answer the refunds of one charge."""
    return {"items": tx.where(REFUNDS, "charge_id", args["charge_id"])}


def get_refund(tx: Tx, args: Row) -> Row:
    """Answer one refund."""
    return tx.get(REFUNDS, args["refund_id"])


def list_payouts(tx: Tx, args: Row) -> Row:
    """Answer the payouts that carry one reference."""
    return {"items": tx.where(PAYOUTS, "payout_id", args["payout_id"])}


def get_payout(tx: Tx, args: Row) -> Row:
    """Answer one payout."""
    return tx.get(PAYOUTS, args["disbursement_id"])


def get_renewal(tx: Tx, args: Row) -> Row:
    """Answer one renewal."""
    return tx.get(RENEWALS, args["renewal_id"])


def get_ledger_account(tx: Tx, args: Row) -> Row:
    """Answer one account of the ledger."""
    return tx.get(LEDGER, args["account"])


def list_journal_entries(tx: Tx, args: Row) -> Row:
    """Answer the journal entries that debit one account."""
    return {"items": tx.where(JOURNAL, "debit_account", args["debit_account"])}


def refund_charge(tx: Tx, args: Row) -> Row:
    """Pay a charge back, never more than it was."""
    charge_id, amount = args["charge_id"], args["amount_cents"]
    charge = tx.get(CHARGES, charge_id)
    left = charge["amount_cents"] - charge["refunded_cents"]
    if left < amount:
        raise ToolError("insufficient", f"charge {charge_id} has {left} left, needs {amount}")
    refund = tx.append(REFUNDS, charge_id=charge_id, amount_cents=amount, status="SUCCEEDED")
    tx.change(CHARGES, charge, refunded_cents=charge["refunded_cents"] + amount)
    return refund


def reverse_refund(tx: Tx, args: Row) -> Row:
    """Take a refund back, and off the charge, where that is ours."""
    refund = tx.get(REFUNDS, args["refund_id"])
    if refund["status"] != "SUCCEEDED":
        raise ToolError("conflict", f"refund {args['refund_id']} is {refund['status']}")
    reversed_ = tx.change(REFUNDS, refund, status="REVERSED")
    charge = tx.find(CHARGES, refund["charge_id"])
    if charge is not None:
        tx.change(CHARGES, charge, refunded_cents=charge["refunded_cents"] - refund["amount_cents"])
    return reversed_


def disburse_split_payout(tx: Tx, args: Row) -> Row:
    """Pay one merchant's share; its reference is not unique."""
    return tx.append(
        PAYOUTS,
        payout_id=args["payout_id"],
        merchant_id=args["merchant_id"],
        amount_cents=args["amount_cents"],
        status="PAID",
    )


def reverse_payout(tx: Tx, args: Row) -> Row:
    """Take a payout back."""
    payout = tx.get(PAYOUTS, args["disbursement_id"])
    if payout["status"] != "PAID":
        raise ToolError("conflict", f"payout {args['disbursement_id']} is {payout['status']}")
    return tx.change(PAYOUTS, payout, status="REVERSED")


def reverse_renewal(tx: Tx, args: Row) -> Row:
    """Take a renewal away, and its period off the subscription, where that is ours."""
    renewal = tx.get(RENEWALS, args["renewal_id"])
    tx.remove(RENEWALS, renewal["renewal_id"])
    row = tx.find(SUBSCRIPTIONS, renewal["sub_id"])
    if row is not None:
        tx.change(SUBSCRIPTIONS, row, paid_periods=row["paid_periods"] - 1)
    return {"renewal_id": renewal["renewal_id"], "deleted": True}


def resume_subscription(tx: Tx, args: Row) -> Row:
    """Mark a subscription as active."""
    return tx.change(SUBSCRIPTIONS, tx.get(SUBSCRIPTIONS, args["sub_id"]), status="ACTIVE")


def post_journal_entry(tx: Tx, args: Row) -> Row:
    """Book an amount from one account to another: entry and both balances in one."""
    amount = args["amount_cents"]
    debit, credit = tx.get(LEDGER, args["debit_account"]), tx.get(LEDGER, args["credit_account"])
    if debit["account"] == credit["account"]:
        raise ToolError("conflict", "an entry needs two accounts")
    entry = tx.append(JOURNAL, **{column: args[column] for column in JOURNAL.columns[1:]})
    tx.change(LEDGER, debit, balance_cents=debit["balance_cents"] - amount)
    tx.change(LEDGER, credit, balance_cents=credit["balance_cents"] + amount)
    return entry


HANDLERS: dict[str, Handler] = {
    "get_subscription": get_subscription,
    "list_renewals": list_renewals,
    "get_treasury": get_treasury,
    "list_wires": list_wires,
    "get_wire": get_wire,
    "process_subscription_renewal": process_subscription_renewal,
    "cancel_subscription": cancel_subscription,
    "execute_wire_transfer": execute_wire_transfer,
    "recall_wire_transfer": recall_wire_transfer,
    "get_charge": get_charge,
    "list_refunds": list_refunds,
    "get_refund": get_refund,
    "list_payouts": list_payouts,
    "get_payout": get_payout,
    "get_renewal": get_renewal,
    "get_ledger_account": get_ledger_account,
    "list_journal_entries": list_journal_entries,
    "refund_charge": refund_charge,
    "reverse_refund": reverse_refund,
    "disburse_split_payout": disburse_split_payout,
    "reverse_payout": reverse_payout,
    "reverse_renewal": reverse_renewal,
    "resume_subscription": resume_subscription,
    "post_journal_entry": post_journal_entry,
}
