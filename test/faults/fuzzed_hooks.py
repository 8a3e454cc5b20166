"""For fuzzed.test.ts: sends names of object properties in headers, and drops failures that come from Schemathesis or from the limits of JSON Schema.

Schemathesis translates the document's pattern [\\p{L}\\p{N}] (a letter or a digit) into Latin letters and ASCII
digits, and some control characters. It sends other letters as text that violates the pattern, and reports that they
are accepted, and that a text of control characters is refused.
"""

import itertools
import json
import re
import unicodedata
from urllib.parse import parse_qs, urlsplit

import schemathesis

# One or several keywords, such as `pattern` or `$ref`, then the place.
VIOLATED_AT = re.compile(r"violates `[^\n]+?` at (\S+)")
OF_ITEMS = "/properties/items/items"
VIOLATES = re.compile(r"violates [^\n]*`pattern`[^\n]* at \S*/properties/(\w+)")
REFUSED = re.compile(r"(\w+) must have a letter or a digit")


# Headers by which the service or a library of it chooses something, and names that every object of JavaScript has.
HEADERS = ["Content-Encoding", "Accept", "Accept-Encoding", "Accept-Language", "X-Forwarded-Proto", "X-Request-Id"]
PROPERTIES = ["constructor", "__proto__", "toString", "valueOf", "hasOwnProperty"]
PLANTED = list(itertools.product(HEADERS, PROPERTIES))
EVERY = 7

# Rules that the document states in words, because code generated from a schema of them would be hard to use.
IN_WORDS = re.compile("is needed|needs [a-z]+_name|Give |search_type|No board has|no such license type|another body")

requests = itertools.count()


@schemathesis.deserializer("application/x-ndjson")
def first_line(context, response):
    return json.loads(response.text.split("\n")[0])


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(requests)
    if number % EVERY == 0:
        header, value = PLANTED[number // EVERY % len(PLANTED)]
        case.headers[header] = value


def is_blank(place, case, response):
    """Whether the field is sent blank or null, in the query or in the body: then it counts as absent."""
    field = re.match(r"/properties/(\w+)", place)
    if field is None:
        return False
    name = field.group(1)
    if name in (case.query or {}):
        # Also an empty object or list is sent as `limit=`, or not at all.
        sent = parse_qs(urlsplit(response.request.url).query, keep_blank_values=True).get(name, [])
        return all(value.strip() == "" for value in sent)
    value = case.body.get(name, name) if isinstance(case.body, dict) else name
    return value is None or (isinstance(value, str) and value.strip() == "")


def is_of_items(message, case, response):
    """Whether nothing but items violates the schema."""
    places = [place for place in VIOLATED_AT.findall(message) if not is_blank(place, case, response)]
    is_only_items = places != [] and all(place.startswith(OF_ITEMS) for place in places)
    return is_only_items or "in body - items -> Array with invalid items" in message


def is_planted(case):
    return any(str(value) in PROPERTIES for value in (case.headers or {}).values())


@schemathesis.hook
def filter_failure(context, failure, case, response):
    # A planted header may be refused: what matters is that the service refuses it. A body that is too large is refused
    # before it is read as JSON.
    if response.status_code == 413 or (is_planted(case) and response.status_code < 500):
        return False
    # No JSON Schema can say which text is a CSV table with the columns of a lookup.
    if case.media_type == "text/csv" and response.status_code == 400:
        return False
    # No JSON Schema can say which cursors were given out.
    if (case.query or {}).get("since") not in (None, "", "latest") and response.status_code == 400:
        return False
    is_rejected = failure.title == "Schema-valid request rejected" and response.status_code == 400
    if is_rejected and IN_WORDS.search(response.text):
        return False
    places = VIOLATED_AT.findall(failure.message)
    if places != [] and all(is_blank(place, case, response) for place in places):
        return False
    # An item that violates the schema is answered as invalid, and the others are answered.
    if response.status_code == 200 and is_of_items(failure.message, case, response):
        return response.json()["summary"]["invalid"] == 0
    named = REFUSED.search(response.text) if is_rejected else VIOLATES.search(failure.message)
    if named is None or not isinstance(case.body, dict):
        return True
    value = case.body.get(named.group(1))
    has_letter_or_digit = isinstance(value, str) and any(unicodedata.category(each)[0] in "LN" for each in value)
    # The service is right to accept a text that has one, and to reject one that has none.
    return has_letter_or_digit == is_rejected
