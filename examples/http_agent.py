"""An agent behind HTTP: it follows the runbook and makes a call again until it is answered.

python examples/http_agent.py 8000 &
undolab trials run --agent http://127.0.0.1:8000/ --split dev --workflow RB-PAY-002
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def act(request: dict[str, Any]) -> dict[str, Any]:
    """Return the next call of the runbook, the last one again if its answer was lost, or the report."""
    replies = [reply for turn in request["history"] for reply in turn["replies"]]
    answered = sum(reply["phase"] != "unknown" for reply in replies)
    if answered == len(request["steps"]):
        return {"report": "done"}
    step = request["steps"][answered]
    return {"calls": [{"tool": step["tool"], "arguments": step["arguments"]}], "said": step["say"]}


class Handler(BaseHTTPRequestHandler):
    """Answers each POST with the next turn."""

    def do_POST(self) -> None:
        """Read the request, answer with JSON."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(act(request)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server has
        """Print nothing."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
