"""The message service: channels, text messages, webhooks, pages, emails. What is sent cannot be taken back."""

import json
from collections.abc import Iterator

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

SLACK = Table("slack_messages", "message", {"message_id": str, "channel": str, "message": str}, prefix="msg")
SMS = Table("sms_messages", "text message", {"sms_id": str, "phone_number": str, "text": str}, prefix="sms")
WEBHOOKS = Table(
    "webhooks",
    "delivery",
    {"delivery_id": str, "target_url": str, "event_type": str, "payload": str},
    prefix="dlv",
)
PAGES = Table(
    "pages", "page", {"page_id": str, "service": str, "alert_title": str, "severity": str}, prefix="page"
)
ONCALL = Table("oncall", "on-call entry", {"service": str, "engineer": str})
BATCHES = Table(
    "email_batches",
    "email batch",
    {"batch_id": str, "campaign_id": str, "template_id": str, "recipients": int, "status": str},
    prefix="bat",
)
EMAILS = Table(
    "emails",
    "email",
    {"email_id": str, "campaign_id": str, "template_id": str, "recipient": str},
    prefix="eml",
)
TABLES = (SLACK, SMS, WEBHOOKS, PAGES, ONCALL, BATCHES, EMAILS)


def list_channel_messages(tx: Tx, args: Row) -> Row:
    """Answer the messages of one channel."""
    return {"items": tx.where(SLACK, "channel", args["channel"])}


def list_webhook_deliveries(tx: Tx, args: Row) -> Row:
    """Answer the deliveries to one address."""
    return {"items": tx.where(WEBHOOKS, "target_url", args["target_url"])}


def get_oncall(tx: Tx, args: Row) -> Row:
    """Answer who is on call for one service."""
    return tx.get(ONCALL, args["service"])


def send_slack_alert(tx: Tx, args: Row) -> Row:
    """Append a message to a channel."""
    return tx.append(SLACK, channel=args["channel"], message=args["message"])


def broadcast_sms_notification(tx: Tx, args: Row) -> Row:
    """Append a text message."""
    return tx.append(SMS, phone_number=args["phone_number"], text=args["text"])


def post_webhook_event(tx: Tx, args: Row) -> Row:
    """Append a delivery; its payload stays as given, byte for byte."""
    if not _is_object(args["payload"]):
        raise ToolError("invalid_arguments", "payload is not a JSON object")
    return tx.append(
        WEBHOOKS, target_url=args["target_url"], event_type=args["event_type"], payload=args["payload"]
    )


def page_oncall_engineer(tx: Tx, args: Row) -> Row:
    """Append a page for whoever is on call."""
    service = tx.get(ONCALL, args["service"])["service"]
    return tx.append(PAGES, service=service, alert_title=args["alert_title"], severity=args["severity"])


def list_email_batches(tx: Tx, args: Row) -> Row:
    """Answer the batches of one campaign."""
    return {"items": tx.where(BATCHES, "campaign_id", args["campaign_id"])}


def list_emails(tx: Tx, args: Row) -> Row:
    """Answer the emails of one campaign."""
    return {"items": tx.where(EMAILS, "campaign_id", args["campaign_id"])}


def send_batch_email(tx: Tx, args: Row) -> Iterator[Row]:
    """Open the batch and mail the first half of the addresses, then mail the rest and close it: two commits."""
    mail = {"campaign_id": args["campaign_id"], "template_id": args["template_id"]}
    addresses = args["recipients"]
    half = (len(addresses) + 1) // 2
    batch = tx.append(BATCHES, **mail, recipients=len(addresses), status="SENDING")
    for address in addresses[:half]:
        tx.append(EMAILS, **mail, recipient=address)
    yield {name: value for name, value in batch.items() if name != "status"}
    for address in addresses[half:]:
        tx.append(EMAILS, **mail, recipient=address)
    tx.change(BATCHES, batch, status="SENT")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


HANDLERS: dict[str, Handler] = {
    "list_channel_messages": list_channel_messages,
    "list_webhook_deliveries": list_webhook_deliveries,
    "get_oncall": get_oncall,
    "send_slack_alert": send_slack_alert,
    "broadcast_sms_notification": broadcast_sms_notification,
    "post_webhook_event": post_webhook_event,
    "page_oncall_engineer": page_oncall_engineer,
    "list_email_batches": list_email_batches,
    "list_emails": list_emails,
    "send_batch_email": send_batch_email,
}
