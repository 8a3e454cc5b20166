"""Verifies a roster: looks up its licenses, 1,000 in a request, and prints one line of JSON for each, in their order.

    LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=... python3 verify.py roster.csv

The roster is a CSV file with the columns board, license_number and last_name; the last name may be blank. Without a
file, it is read from standard input. The exit code is 0 if every lookup was answered, found or not, else 1.
Needs Python 3.10 or newer, and no packages.
"""

import json
import sys

from roster import lines_of
from service import ERRORS, MAX_ITEMS, ask

COLUMNS = ["board", "license_number", "last_name"]


def results_of(lines):
    """The service's results for some lines, in their order."""
    return ask("/lookup/batch", {"items": [asked(line) for line in lines]})["results"]


def asked(line):
    """The lookup of one line. Without a number, nothing is asked: a name alone could find somebody else's license."""
    return line if line["license_number"] != "" else {}


def shown(line, result):
    """What is printed for one line. A number that was not found does not mean that its holder is unlicensed."""
    fields = {name: line[name] for name in COLUMNS[:2]}
    if fields["license_number"] == "":
        return fields | {"error": "The roster has no number here."}
    if result["outcome"] == "found":
        names = ["status", "raw_status", "expiry_date", "license_type", "cautions", "name_match", "last_scraped"]
        return fields | {"found": True} | {name: result["record"].get(name) for name in names}
    if result["outcome"] == "not_found":
        return fields | {"found": False, "detail": result["detail"], "did_you_mean": result["did_you_mean"]}
    return fields | {"error": result.get("detail", "Several licenses match.")}


def main():
    lines = lines_of(sys.argv[1] if len(sys.argv) > 1 else 0, COLUMNS)
    failed = False
    for start in range(0, len(lines), MAX_ITEMS):
        chunk = lines[start : start + MAX_ITEMS]
        for line, result in zip(chunk, results_of(chunk), strict=True):
            output = shown(line, result)
            print(json.dumps(output), flush=True)
            failed = failed or "error" in output
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ERRORS as error:
        sys.exit(str(error))
