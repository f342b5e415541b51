"""A receiver of webhooks that takes only what is signed with the webhook's secret, and each event once.

    WEBHOOK_SECRET=whsec_… python3 receiver.py
"""

import base64
import hashlib
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BYTES = 8 * 1024 * 1024
TOLERANCE_S = 300


def is_genuine(secret: str, headers, body: bytes) -> bool:
    """Whether a request is signed with the secret, and recent. `body`: the bytes as they came."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # One signature for each secret that is valid now: there are two while a secret is being rotated.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(wanted.encode(), one.encode()) for one in given)


SECRET = os.environ["WEBHOOK_SECRET"]
seen: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()):
            return self.answer(411)
        if int(length) > MAX_BYTES:
            return self.answer(413)
        # The bytes as they came are what is signed: JSON that was parsed and written again verifies nowhere.
        body = self.rfile.read(int(length))
        if not is_genuine(SECRET, self.headers, body):
            return self.answer(401)
        # A delivery may come again, after a lost answer, say. Its id stays the same.
        message_id = self.headers["webhook-id"]
        if message_id not in seen:
            print(f"genuine: {self.headers.get('errand-event-name')} {body.decode()}", flush=True)
        seen.add(message_id)
        self.answer(204)

    def answer(self, status: int):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8787"))), Receiver)
    print(f"the receiver listens on port {server.server_port}", flush=True)
    server.serve_forever()
