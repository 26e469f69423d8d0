"""The object store: buckets, objects, uploads in parts. Keys are plain strings: no path is ever made of them."""

import hashlib
from collections.abc import Iterator

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

BUCKETS = Table("buckets", "bucket", {"bucket_name": str, "access": str})
OBJECTS = Table(
    "objects",
    "object",
    {"bucket_name": str, "key": str, "content": str, "size": int, "etag": str},
    key_columns=2,
)
SOURCES = Table("copy_sources", "copy source", {"bucket_name": str, "key": str, "source": str}, key_columns=2)
UPLOADS = Table(
    "uploads", "upload", {"upload_id": str, "bucket_name": str, "key": str, "status": str}, prefix="upl"
)
PARTS = Table(
    "upload_parts",
    "part",
    {"upload_id": str, "part_number": int, "data": str, "size": int, "etag": str},
    key_columns=2,
)
TABLES = (BUCKETS, OBJECTS, SOURCES, UPLOADS, PARTS)


def get_object(tx: Tx, args: Row) -> Row:
    """Answer one object with its content."""
    bucket = tx.get(BUCKETS, args["bucket_name"])["bucket_name"]
    return tx.get(OBJECTS, bucket, args["key"])


def head_object(tx: Tx, args: Row) -> Row:
    """Answer one object without its content."""
    return _head(get_object(tx, args))


def list_objects(tx: Tx, args: Row) -> Row:
    """Answer the objects of one bucket without their contents."""
    bucket = tx.get(BUCKETS, args["bucket_name"])["bucket_name"]
    return {"items": [_head(row) for row in tx.where(OBJECTS, "bucket_name", bucket)]}


def put_object(tx: Tx, args: Row) -> Row:
    """Write an object, over an old one too."""
    bucket = tx.get(BUCKETS, args["bucket_name"])["bucket_name"]
    return _head(tx.put(OBJECTS, with_digest(bucket, args["key"], args["content"])))


def copy_object(tx: Tx, args: Row) -> Iterator[Row]:
    """Copy an object, then note where it came from: two commits."""
    source_bucket = tx.get(BUCKETS, args["source_bucket"])["bucket_name"]
    dest = {"bucket_name": tx.get(BUCKETS, args["dest_bucket"])["bucket_name"], "key": args["dest_key"]}
    source = tx.get(OBJECTS, source_bucket, args["source_key"])
    yield _head(tx.put(OBJECTS, {**source, **dest}))
    tx.put(SOURCES, {**dest, "source": f"{source_bucket}/{args['source_key']}"})


def delete_object(tx: Tx, args: Row) -> Row:
    """Take an object and its note of origin away; one that is not there is no error."""
    bucket, key = tx.get(BUCKETS, args["bucket_name"])["bucket_name"], args["key"]
    deleted = tx.remove(OBJECTS, bucket, key)
    if tx.find(SOURCES, bucket, key) is not None:
        tx.remove(SOURCES, bucket, key)
    return {"bucket_name": bucket, "key": key, "deleted": deleted}


def set_bucket_access(tx: Tx, args: Row) -> Row:
    """Set who may read a bucket."""
    return tx.change(BUCKETS, tx.get(BUCKETS, args["bucket_name"]), access=args["access"])


def with_digest(bucket: str, key: str, content: str) -> Row:
    """Return the whole row of an object."""
    return {"bucket_name": bucket, "key": key, "content": content, **_digest(content)}


def get_bucket(tx: Tx, args: Row) -> Row:
    """Answer one bucket."""
    return tx.get(BUCKETS, args["bucket_name"])


def list_uploads(tx: Tx, args: Row) -> Row:
    """Answer the uploads into one bucket."""
    return {"items": tx.where(UPLOADS, "bucket_name", args["bucket_name"])}


def get_upload(tx: Tx, args: Row) -> Row:
    """Answer one upload."""
    return tx.get(UPLOADS, args["upload_id"])


def list_parts(tx: Tx, args: Row) -> Row:
    """Answer the parts of one upload without their data."""
    upload = tx.get(UPLOADS, args["upload_id"])["upload_id"]
    return {"items": [_without_data(row) for row in tx.where(PARTS, "upload_id", upload)]}


def get_part(tx: Tx, args: Row) -> Row:
    """Answer one part with its data."""
    return tx.get(PARTS, args["upload_id"], args["part_number"])


def initiate_multipart_upload(tx: Tx, args: Row) -> Row:
    """Open an upload."""
    bucket = tx.get(BUCKETS, args["bucket_name"])["bucket_name"]
    return tx.append(UPLOADS, bucket_name=bucket, key=args["key"], status="OPEN")


def upload_part(tx: Tx, args: Row) -> Row:
    """Write a part of an open upload, over an old one too."""
    upload = _open(tx, args["upload_id"])["upload_id"]
    return _without_data(tx.put(PARTS, part_with_digest(upload, args["part_number"], args["data"])))


def delete_part(tx: Tx, args: Row) -> Row:
    """Take a part of an open upload away."""
    upload, number = _open(tx, args["upload_id"])["upload_id"], args["part_number"]
    tx.get(PARTS, upload, number)
    tx.remove(PARTS, upload, number)
    return {"upload_id": upload, "part_number": number, "deleted": True}


def complete_multipart_upload(tx: Tx, args: Row) -> Iterator[Row]:
    """Write the object from the parts, then close the upload: two commits."""
    upload = _open(tx, args["upload_id"])
    parts = tx.where(PARTS, "upload_id", upload["upload_id"])
    if not parts:
        raise ToolError("precondition_failed", f"upload {upload['upload_id']} has no parts")
    bucket = tx.get(BUCKETS, upload["bucket_name"])["bucket_name"]
    content = "".join(part["data"] for part in parts)
    yield _head(tx.put(OBJECTS, with_digest(bucket, upload["key"], content)))
    tx.change(UPLOADS, upload, status="COMPLETED")


def abort_multipart_upload(tx: Tx, args: Row) -> Row:
    """Close an open upload without an object."""
    return tx.change(UPLOADS, _open(tx, args["upload_id"]), status="ABORTED")


def part_with_digest(upload: str, number: int, data: str) -> Row:
    """Return the whole row of a part."""
    return {"upload_id": upload, "part_number": number, "data": data, **_digest(data)}


def _head(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "content"}


def _without_data(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "data"}


def _open(tx: Tx, upload_id: str) -> Row:
    upload = tx.get(UPLOADS, upload_id)
    if upload["status"] != "OPEN":
        raise ToolError("conflict", f"upload {upload_id} is {upload['status']}")
    return upload


def _digest(text: str) -> Row:
    data = text.encode()
    return {"size": len(data), "etag": hashlib.sha256(data).hexdigest()[:8]}


HANDLERS: dict[str, Handler] = {
    "get_object": get_object,
    "head_object": head_object,
    "list_objects": list_objects,
    "put_object": put_object,
    "storage_upload": put_object,
    "copy_object": copy_object,
    "delete_object": delete_object,
    "set_bucket_access": set_bucket_access,
    "get_bucket": get_bucket,
    "list_uploads": list_uploads,
    "get_upload": get_upload,
    "list_parts": list_parts,
    "get_part": get_part,
    "initiate_multipart_upload": initiate_multipart_upload,
    "upload_part": upload_part,
    "delete_part": delete_part,
    "complete_multipart_upload": complete_multipart_upload,
    "abort_multipart_upload": abort_multipart_upload,
}
