"""The payment service: subscriptions with their renewals, treasury accounts with their wires."""

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
TABLES = (SUBSCRIPTIONS, RENEWALS, TREASURY, WIRES)


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
}
