"""Verifies a roster: looks up each license and prints one line of JSON for each, in the order of the roster.

    LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=... python3 verify.py roster.csv

The roster is a CSV file with the columns board, license_number and last_name; the last name may be blank. Without a
file, it is read from standard input. The exit code is 0 if every lookup was answered, found or not, else 1.
Needs Python 3.10 or newer, and no packages.
"""

import csv
import http.client
import itertools
import json
import os
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

URL = os.environ.get("LICENSES_URL", "http://127.0.0.1:8080").rstrip("/")
KEY = os.environ.get("LICENSES_KEY", "")
COLUMNS = ["board", "license_number", "last_name"]
AT_ONCE = 16  # concurrent lookups
MAX_TRIES = 5
MAX_SECONDS = 120  # if Retry-After is longer, give up
ANSWERED_WITHIN_SECONDS = 30
ERRORS = (OSError, ValueError, http.client.HTTPException)


def ask(path, body=None):
    """The status and the parsed response. After 429 and 503 it waits for Retry-After and retries."""
    headers = {"X-API-Key": KEY, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    for tries in itertools.count(1):
        request = urllib.request.Request(URL + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=ANSWERED_WITHIN_SECONDS) as response:
                return response.status, parsed(response.read())
        except urllib.error.HTTPError as refusal:
            with refusal:
                retry_after = refusal.headers.get("Retry-After", "")
                seconds = int(retry_after) if retry_after.isdecimal() else 1
                if refusal.code not in (429, 503) or tries == MAX_TRIES or seconds > MAX_SECONDS:
                    return refusal.code, parsed(refusal.read())
        time.sleep(max(seconds, 1))


def parsed(body):
    """The response as a dictionary; empty if it is not a JSON object, as from a proxy."""
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def verified(line):
    """The result for one line. A number that was not found does not mean that its holder is unlicensed."""
    body = {name: (line[name] or "").strip() for name in COLUMNS}
    asked = {"board": body["board"], "license_number": body["license_number"]}
    # Without a number the service would search by name, and could find somebody else's license.
    if body["license_number"] == "":
        return asked | {"error": "The roster has no number here."}
    try:
        status, answer = ask("/api/v1/lookup/verify", body)
    except ERRORS as error:
        return asked | {"error": str(error)}
    if status == 200 and "license_number" in answer:
        fields = ["status", "raw_status", "expiry_date", "name_match", "last_scraped"]
        return asked | {"found": True} | {name: answer.get(name) for name in fields}
    if status == 404 and "did_you_mean" in answer:
        return asked | {"found": False} | answer
    return asked | {"error": answer.get("detail", f"The answer was {status}.")}


def main():
    roster = sys.argv[1] if len(sys.argv) > 1 else 0
    with open(roster, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        for name in COLUMNS:
            if name not in (reader.fieldnames or []):
                return f"The roster's first line must name a column {name}."
        lines = list(reader)
    # Check the address and the key once, before the first line.
    status, answer = ask("/api/v1/lookup/boards")
    if status != 200:
        return answer.get("detail", f"The answer was {status}.")
    failed = False
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for result in pool.map(verified, lines):
            print(json.dumps(result), flush=True)
            failed = failed or "error" in result
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ERRORS as error:
        sys.exit(str(error))
