"""Keeps a copy of some licenses current: prints one line of JSON for each change since the last time.

    LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=... python3 follow.py roster.csv copy.json

The roster is a CSV file with the columns board and license_number. The copy is a file that this program writes. Run it
as often as you like, every hour or once a day: no change is lost or repeated. The first time it verifies the whole
roster and prints nothing. The exit code is 0, or 1 when it could not finish; the copy then stays as it was.
Needs Python 3.10 or newer, and no packages.
"""

import csv
import json
import os
import sys
import urllib.parse

from service import ERRORS, MAX_ITEMS, CursorExpired, ask


def changes_since(cursor):
    return ask("/changes?" + urllib.parse.urlencode({"since": cursor, "limit": 1000}))


def new_copy(roster):
    """The cursor comes first: what changes while the roster is verified is then applied twice, which does no harm."""
    copy = {"cursor": changes_since("latest")["next"], "licenses": {}}
    for start in range(0, len(roster), MAX_ITEMS):
        items = roster[start : start + MAX_ITEMS]
        for item, result in zip(items, ask("/lookup/batch", {"items": items})["results"], strict=True):
            if result["outcome"] == "found":
                record = result["record"]
                copy["licenses"][key_of(record)] = fields_of(record)
            else:
                print(json.dumps(item | {"error": result.get("detail", result["outcome"])}), file=sys.stderr)
    return copy


def key_of(license):
    return license["board"] + "/" + license["license_number"]


def fields_of(record):
    """The fields of a record with the names that changes have. What depends on the day is left out."""
    ours = {"found", "source", "last_scraped", "days_until_expiry", "cautions", "name_match", "url", "extra_data"}
    fields = {name: value for name, value in record.items() if name not in ours and value is not None}
    return fields | {"extra_data." + name: value for name, value in record["extra_data"].items()}


def apply(copy, change):
    """Applies a change to the copy and prints it, if it is of one of its licenses."""
    key = key_of(change)
    if key not in copy["licenses"]:
        return
    fields = {} if change["kind"] == "removed" else copy["licenses"][key]
    if change["kind"] != "removed":
        for name, field in change["fields"].items():
            if field["after"] is None:
                fields.pop(name, None)
            else:
                fields[name] = field["after"]
    copy["licenses"][key] = fields
    print(json.dumps(change), flush=True)


def save(copy, path):
    """Replaces the copy as a whole, so that it is never half written."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(copy, file)
    os.replace(path + ".part", path)


def saved_copy(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def follow(copy, path):
    more = True
    while more:
        page = changes_since(copy["cursor"])
        for change in page["changes"]:
            apply(copy, change)
        copy["cursor"], more = page["next"], page["more"]
        save(copy, path)


def main(roster_path, copy_path):
    with open(roster_path, encoding="utf-8-sig", newline="") as file:
        roster = [{name: line[name] for name in ("board", "license_number")} for line in csv.DictReader(file)]
    try:
        follow(saved_copy(copy_path) or new_copy(roster), copy_path)
    except CursorExpired:
        print("The changes since the last time are no longer kept; the roster is verified again.", file=sys.stderr)
        save(new_copy(roster), copy_path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Use: python3 follow.py roster.csv copy.json")
    try:
        main(sys.argv[1], sys.argv[2])
    except ERRORS as error:
        sys.exit(str(error))
