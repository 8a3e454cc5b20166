"""The service's API. Its address and your key come from the environment: LICENSES_URL and LICENSES_KEY."""

import http.client
import itertools
import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("LICENSES_URL", "http://127.0.0.1:8080").rstrip("/")
KEY = os.environ.get("LICENSES_KEY", "")
MAX_ITEMS = 1000  # of a roster in one request
MAX_TRIES = 5
MAX_SECONDS = 120  # if Retry-After is longer, give up
ANSWERED_WITHIN_SECONDS = 30
ERRORS = (OSError, ValueError, http.client.HTTPException)


class CursorExpired(Exception):
    """The changes after a cursor are no longer kept."""


def ask(path, body=None):
    """The service's answer. After 429 and 503 it waits for Retry-After and retries; any other error ends the program."""
    headers = {"X-API-Key": KEY, "Content-Type": "application/json"}
    for tries in itertools.count(1):
        request = urllib.request.Request(URL + "/api/v1" + path, body and json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=ANSWERED_WITHIN_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as refusal:
            with refusal:
                if refusal.code == 410:
                    raise CursorExpired from refusal
                retry_after = refusal.headers.get("Retry-After", "")
                seconds = int(retry_after) if retry_after.isdecimal() else 1
                if refusal.code not in (429, 503) or tries == MAX_TRIES or seconds > MAX_SECONDS:
                    sys.exit(detail_of(refusal))
        time.sleep(max(seconds, 1))


def detail_of(refusal):
    """The service's error, or the status if something else answered, such as a proxy."""
    try:
        return json.load(refusal)["detail"]
    except (ValueError, TypeError, KeyError):
        return f"The answer was {refusal.code}."
