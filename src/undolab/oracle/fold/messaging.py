"""The messaging domain of `docs/reference/tools.md`, over dictionaries."""

import json
from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "slack_messages": Table("message", ("message_id",), "msg"),
    "sms_messages": Table("text message", ("sms_id",), "sms"),
    "webhooks": Table("delivery", ("delivery_id",), "dlv"),
    "pages": Table("page", ("page_id",), "page"),
    "oncall": Table("on-call entry", ("service",)),
    "email_batches": Table("email batch", ("batch_id",), "bat"),
    "emails": Table("email", ("email_id",), "eml"),
}


def _list_channel_messages(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("slack_messages", channel=args["channel"])


def _list_webhook_deliveries(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("webhooks", target_url=args["target_url"])


def _get_oncall(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("oncall", args["service"])


def _send_slack_alert(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.append("slack_messages", channel=args["channel"], message=args["message"])


def _broadcast_sms_notification(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.append("sms_messages", phone_number=args["phone_number"], text=args["text"])


def _post_webhook_event(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    if not _is_json_object(args["payload"]):
        raise Refused("invalid_arguments", "payload is not a JSON object")
    return store.append(
        "webhooks",
        target_url=args["target_url"],
        event_type=args["event_type"],
        payload=args["payload"],
    )


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _page_oncall_engineer(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("oncall", args["service"])
    return store.append(
        "pages", service=args["service"], alert_title=args["alert_title"], severity=args["severity"]
    )


def _list_email_batches(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("email_batches", campaign_id=args["campaign_id"])


def _list_emails(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("emails", campaign_id=args["campaign_id"])


def _send_batch_email(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    campaign, template, addresses = args["campaign_id"], args["template_id"], args["recipients"]
    batch = store.append(
        "email_batches",
        campaign_id=campaign,
        template_id=template,
        recipients=len(addresses),
        status="SENDING",
    )
    half = (len(addresses) + 1) // 2
    for number, address in enumerate(addresses):
        if number == half:
            store.next_part()
        store.append("emails", campaign_id=campaign, template_id=template, recipient=address)
    if half == len(addresses):
        store.next_part()
    store.change("email_batches", batch["batch_id"], status="SENT")
    return {column: value for column, value in batch.items() if column != "status"}


HANDLERS: dict[str, Handler] = {
    "list_channel_messages": _list_channel_messages,
    "list_webhook_deliveries": _list_webhook_deliveries,
    "get_oncall": _get_oncall,
    "send_slack_alert": _send_slack_alert,
    "broadcast_sms_notification": _broadcast_sms_notification,
    "post_webhook_event": _post_webhook_event,
    "page_oncall_engineer": _page_oncall_engineer,
    "list_email_batches": _list_email_batches,
    "list_emails": _list_emails,
    "send_batch_email": _send_batch_email,
}
