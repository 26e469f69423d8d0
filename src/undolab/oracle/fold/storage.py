"""The storage domain of `docs/reference/tools.md`, over dictionaries."""

import hashlib
from collections.abc import Mapping
from typing import Any

from undolab.model.workflow import Row
from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "buckets": Table("bucket", ("bucket_name",)),
    "objects": Table("object", ("bucket_name", "key")),
    "copy_sources": Table("copy source", ("bucket_name", "key")),
    "uploads": Table("upload", ("upload_id",), "upl"),
    "upload_parts": Table("part", ("upload_id", "part_number")),
}


def object_row(bucket: str, key: str, content: str) -> Row:
    """Return the row of an object with the columns that follow from its content."""
    return {"bucket_name": bucket, "key": key, "content": content, **_measured(content)}


def part_row(upload_id: str, number: int, data: str) -> Row:
    """Return the row of a part with the columns that follow from its data."""
    return {"upload_id": upload_id, "part_number": number, "data": data, **_measured(data)}


def _measured(text: str) -> Row:
    data = text.encode()
    return {"size": len(data), "etag": hashlib.sha256(data).hexdigest()[:8]}


def _without(row: Row, hidden: str) -> dict[str, Any]:
    return {column: value for column, value in row.items() if column != hidden}


def _get_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["bucket_name"])
    return store.need("objects", f"{args['bucket_name']}/{args['key']}")


def _head_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return _without(_get_object(store, args), "content")


def _list_objects(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["bucket_name"])
    found = store.items("objects", bucket_name=args["bucket_name"])
    return {"items": [_without(row, "content") for row in found["items"]]}


def _put_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    bucket, key = args["bucket_name"], args["key"]
    store.need("buckets", bucket)
    row = store.put("objects", f"{bucket}/{key}", object_row(bucket, key, args["content"]))
    return _without(row, "content")


def _copy_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["source_bucket"])
    store.need("buckets", args["dest_bucket"])
    source = f"{args['source_bucket']}/{args['source_key']}"
    content = store.need("objects", source)["content"]
    bucket, key = args["dest_bucket"], args["dest_key"]
    row = store.put("objects", f"{bucket}/{key}", object_row(bucket, key, content))
    store.next_part()
    store.put("copy_sources", f"{bucket}/{key}", {"bucket_name": bucket, "key": key, "source": source})
    return _without(row, "content")


def _delete_object(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    bucket, key = args["bucket_name"], args["key"]
    store.need("buckets", bucket)
    place = f"{bucket}/{key}"
    deleted = store.remove("objects", place)
    if store.get("copy_sources", place) is not None:
        store.remove("copy_sources", place)
    return {"bucket_name": bucket, "key": key, "deleted": deleted}


def _set_bucket_access(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["bucket_name"])
    return store.change("buckets", args["bucket_name"], access=args["access"])


def _get_bucket(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("buckets", args["bucket_name"])


def _list_uploads(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.items("uploads", bucket_name=args["bucket_name"])


def _get_upload(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("uploads", args["upload_id"])


def _list_parts(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("uploads", args["upload_id"])
    found = store.items("upload_parts", upload_id=args["upload_id"])
    return {"items": [_without(row, "data") for row in found["items"]]}


def _get_part(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("upload_parts", f"{args['upload_id']}/{args['part_number']}")


def _initiate_multipart_upload(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("buckets", args["bucket_name"])
    return store.append("uploads", bucket_name=args["bucket_name"], key=args["key"], status="OPEN")


def _open_upload(store: Store, upload_id: str) -> Row:
    upload = store.need("uploads", upload_id)
    if upload["status"] != "OPEN":
        raise Refused("conflict", f"upload {upload_id} is {upload['status']}")
    return upload


def _upload_part(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    _open_upload(store, args["upload_id"])
    row = part_row(args["upload_id"], args["part_number"], args["data"])
    return _without(store.put("upload_parts", f"{args['upload_id']}/{args['part_number']}", row), "data")


def _delete_part(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    upload_id, number = args["upload_id"], args["part_number"]
    _open_upload(store, upload_id)
    store.need("upload_parts", f"{upload_id}/{number}")
    store.remove("upload_parts", f"{upload_id}/{number}")
    return {"upload_id": upload_id, "part_number": number, "deleted": True}


def _complete_multipart_upload(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    upload_id = args["upload_id"]
    upload = _open_upload(store, upload_id)
    parts = store.items("upload_parts", upload_id=upload_id)["items"]
    if not parts:
        raise Refused("precondition_failed", f"upload {upload_id} has no parts")
    store.need("buckets", upload["bucket_name"])
    whole = "".join(part["data"] for part in sorted(parts, key=lambda part: part["part_number"]))
    made = object_row(upload["bucket_name"], upload["key"], whole)
    row = store.put("objects", f"{upload['bucket_name']}/{upload['key']}", made)
    store.next_part()
    store.change("uploads", upload_id, status="COMPLETED")
    return _without(row, "content")


def _abort_multipart_upload(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    _open_upload(store, args["upload_id"])
    return store.change("uploads", args["upload_id"], status="ABORTED")


HANDLERS: dict[str, Handler] = {
    "get_object": _get_object,
    "head_object": _head_object,
    "list_objects": _list_objects,
    "put_object": _put_object,
    "storage_upload": _put_object,
    "copy_object": _copy_object,
    "delete_object": _delete_object,
    "set_bucket_access": _set_bucket_access,
    "get_bucket": _get_bucket,
    "list_uploads": _list_uploads,
    "get_upload": _get_upload,
    "list_parts": _list_parts,
    "get_part": _get_part,
    "initiate_multipart_upload": _initiate_multipart_upload,
    "upload_part": _upload_part,
    "delete_part": _delete_part,
    "complete_multipart_upload": _complete_multipart_upload,
    "abort_multipart_upload": _abort_multipart_upload,
}
