"""Receives webhook messages, and prints one line of JSON for each change of the licenses that your account watches.

    LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=... WEBHOOK_SECRET=whsec_... python3 receiver.py cursor.txt

It listens on HOST and PORT, by default 127.0.0.1 and 3000, for the messages that the service sends to your webhook. A
message only says that there is something new. What it is, this program reads from the feed, from the cursor that it has
saved in the file: so a message that is lost, repeated or late does no harm, and a restart loses nothing. The first time,
and when the changes since the cursor are no longer kept, it prints all that you watch instead. A change is printed twice
only when the program is stopped before it has saved its cursor.
Needs Python 3.10 or newer, and no packages: a signature takes a few lines. The package standardwebhooks has them, too.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from service import ERRORS, CursorExpired, ask

HOST = os.environ.get("HOST", "127.0.0.1")
PORT = int(os.environ.get("PORT", "3000"))
SECRET = os.environ.get("WEBHOOK_SECRET", "")
MAX_BYTES = 64 * 1024
SENT_WITHIN_SECONDS = 10
SIGNED_WITHIN_SECONDS = 300
# Without a message, it asks so often: the service stops sending to a receiver that is away for days.
ASK_EVERY_SECONDS = 3600
RETRY_AFTER_SECONDS = 60

nudged = threading.Event()


class Receiver(BaseHTTPRequestHandler):
    timeout = SENT_WITHIN_SECONDS

    def do_POST(self):
        length = number(self.headers.get("Content-Length", ""))
        is_short = length is not None and length <= MAX_BYTES
        is_from_service = is_short and is_signed(self.headers, self.rfile.read(length))
        # The service waits fifteen seconds for an answer. Reading the feed may take longer.
        self.send_response(204 if is_from_service else 401)
        self.end_headers()
        if is_from_service:
            nudged.set()

    def log_message(self, *_):
        pass


def number(text):
    return int(text) if text.isdecimal() and len(text) < 20 else None


def is_signed(headers, body):
    """Whether the service has signed a message, in the last minutes: anybody else may have sent it."""
    names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
    message_id, timestamp, signatures = (headers.get(name, "") for name in names)
    seconds = number(timestamp)
    if seconds is None or abs(time.time() - seconds) > SIGNED_WITHIN_SECONDS:
        return False
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    # After the secret was changed there are two, for a day.
    return any(hmac.compare_digest(expected, each.encode()) for each in signatures.split(" "))


def changes_since(cursor, **filters):
    return ask("/changes?" + urllib.parse.urlencode({"since": cursor, "limit": 1000} | filters))


def print_json(value):
    print(json.dumps(value), flush=True)


def saved_cursor(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def save(cursor, path):
    """Replaces the file as a whole, so that it is never half written."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(cursor)
    os.replace(path + ".part", path)


def print_all(path):
    """The cursor comes first: what changes while the list is printed is then printed again, as a change."""
    cursor = changes_since("latest")["next"]
    after = ""
    while after is not None:
        page = ask("/subscriptions?" + urllib.parse.urlencode({"after": after, "limit": 1000}))
        for license in page["subscriptions"]:
            print_json(license)
        after = page["next"]
    save(cursor, path)


def print_changes(path):
    """Prints what has changed since the saved cursor."""
    cursor = saved_cursor(path)
    if cursor is None:
        print_all(path)
        return
    try:
        more = True
        while more:
            page = changes_since(cursor, watched="true")
            for change in page["changes"]:
                print_json(change)
            cursor, more = page["next"], page["more"]
            save(cursor, path)
    except CursorExpired:
        print(
            "The changes since the last time are no longer kept; all that is watched is printed.",
            file=sys.stderr,
            flush=True,
        )
        print_all(path)


def main(path):
    server = ThreadingHTTPServer((HOST, PORT), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"Listening on http://{HOST}:{PORT}", file=sys.stderr, flush=True)
    while True:
        nudged.clear()
        wait = ASK_EVERY_SECONDS
        try:
            print_changes(path)
        # `ask` ends other programs when it is refused.
        except (*ERRORS, SystemExit) as error:
            print(error, file=sys.stderr, flush=True)
            wait = RETRY_AFTER_SECONDS
        nudged.wait(wait)


if __name__ == "__main__":
    if len(sys.argv) != 2 or SECRET == "":
        sys.exit("Use: WEBHOOK_SECRET=whsec_... python3 receiver.py cursor.txt")
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        pass
