"""A tiny OpenAI-compatible service that follows the runbook: it stands in for vLLM, Ollama or llama.cpp's server.

python examples/openai_service.py 8123 &
undolab models --models examples/models.yaml check my-model
undolab models --models examples/models.yaml run my-model
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STEP = re.compile(r"^\d+\. .*?: (\w+)\((\{.*\})\)$", re.MULTILINE)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the next step of the runbook as a native tool call, or the end."""
    texts = [message.get("content") or "" for message in request["messages"] if message["role"] == "user"]
    steps = STEP.findall("\n".join(texts))
    place = sum(message["role"] == "tool" for message in request["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if place < len(steps):
        name, arguments = steps[place]
        message["tool_calls"] = [
            {"id": "call", "type": "function", "function": {"name": name, "arguments": arguments}}
        ]
        reason = "tool_calls"
    else:
        message["content"] = "finish: done"
        reason = "length" if request.get("max_tokens", 512) < 5 else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 100, "completion_tokens": 4, "total_tokens": 104}
    return {
        "id": "1",
        "object": "chat.completion",
        "model": request["model"],
        "choices": [choice],
        "usage": usage,
    }


class Handler(BaseHTTPRequestHandler):
    """Answers POST requests, whatever their path."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read one request and answer it."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(answer(request)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
