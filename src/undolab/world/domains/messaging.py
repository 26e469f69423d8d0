"""The message service: channels, text messages, webhooks, pages. What is sent cannot be taken back."""

import json

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
TABLES = (SLACK, SMS, WEBHOOKS, PAGES, ONCALL)


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
}
