"""Keeps a copy of some licenses current: prints one line of JSON for each change since the last time.

    LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=... python3 follow.py roster.csv copy.json

The roster is a CSV file with the columns board and license_number. The copy is a file that this program writes. Each
run looks up the lines of the roster that the copy does not have: at first all, later new lines and numbers that were
not found, which it writes to standard error each time. Then it reads the changes. Run it as often as you like, every
hour or once a day: no change is lost. After a stop in the middle, some may be printed again. For a license that is new
in the copy, changes from before it was looked up may be printed. When the changes since the last time are no longer
kept, it looks up all licenses again and prints how they differ. The exit code is 0, or 1 when it could not finish; the
next run then continues.
Needs Python 3.10 or newer, and no packages.
"""

import json
import os
import sys
import urllib.parse

from roster import lines_of
from service import ERRORS, MAX_ITEMS, CursorExpired, ask


def changes_since(cursor):
    return ask("/changes?" + urllib.parse.urlencode({"since": cursor, "limit": 1000}))


def new_copy():
    """The cursor comes before any lookup: what changes meanwhile is then applied twice, which does no harm.

    `licenses` has the fields of each license, none if it was removed; `numbers` the license of each line of the roster.
    """
    return {"cursor": changes_since("latest")["next"], "numbers": {}, "licenses": {}}


def look_up(copy, lines):
    """Looks up the lines whose license is not known. Fields that the copy has stay: only changes alter them."""
    unknown = list({key_of(line): line for line in lines if key_of(line) not in copy["numbers"]}.values())
    for start in range(0, len(unknown), MAX_ITEMS):
        items = unknown[start : start + MAX_ITEMS]
        for item, result in zip(items, ask("/lookup/batch", {"items": items})["results"], strict=True):
            if result["outcome"] == "found":
                key = key_of(result["record"])
                copy["numbers"][key_of(item)] = key
                copy["licenses"].setdefault(key, fields_of(result["record"]))
            else:
                print(json.dumps(item | {"error": result.get("detail", result["outcome"])}), file=sys.stderr)


def verify_again(old, roster):
    """A new copy. Prints how the licenses of the old one differ, also of those that the roster has no longer."""
    copy = new_copy()
    look_up(copy, roster + [line_of(key) for key in old["licenses"]])
    for key, before in old["licenses"].items():
        after = copy["licenses"].setdefault(key, {})
        if before != after:
            kind = "added" if not before else "changed" if after else "removed"
            print(json.dumps({"kind": kind} | line_of(key) | {"fields": difference(before, after)}), flush=True)
    return copy | {"numbers": old["numbers"] | copy["numbers"]}


def difference(before, after):
    """The fields that differ, as changes have them."""
    pairs = {name: {"before": before.get(name), "after": after.get(name)} for name in before | after}
    return {name: pair for name, pair in pairs.items() if pair["before"] != pair["after"]}


def key_of(license):
    return license["board"] + "/" + license["license_number"]


def line_of(key):
    """The line of a roster with this key. No board's name has a slash."""
    board, _, license_number = key.partition("/")
    return {"board": board, "license_number": license_number}


def fields_of(record):
    """The fields of a record with the names that changes have. What depends on the day is left out."""
    ours = {"found", "source", "last_scraped", "data_age_days", "days_until_expiry", "cautions", "notes"}
    ours |= {"name_match", "name_at_board", "url", "extra_data"}
    fields = {name: value for name, value in record.items() if name not in ours and value is not None}
    return fields | {"extra_data." + name: value for name, value in record["extra_data"].items()}


def apply(copy, change):
    """Applies a change to the copy and prints it, if it is of one of its licenses."""
    key = key_of(change)
    earlier = key_of({"board": change["board"], "license_number": change.get("renumbered_from", "")})
    if earlier in copy["licenses"]:
        # The State writes the number in another way: it is the same license.
        copy["licenses"].setdefault(key, {})
        copy["numbers"] = {line: key if known == earlier else known for line, known in copy["numbers"].items()}
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
            copy = json.load(file)
    except FileNotFoundError:
        return None
    # An earlier version of this program saved no numbers.
    return {"numbers": {key: key for key in copy["licenses"]}} | copy


def follow(copy, path):
    more = True
    while more:
        page = changes_since(copy["cursor"])
        for change in page["changes"]:
            apply(copy, change)
        copy["cursor"], more = page["next"], page["more"]
        save(copy, path)


def main(roster_path, copy_path):
    roster = lines_of(roster_path, ["board", "license_number"])
    copy = saved_copy(copy_path) or new_copy()
    try:
        look_up(copy, roster)
        follow(copy, copy_path)
    except CursorExpired:
        print("The changes since the last time are no longer kept; all licenses are looked up again.", file=sys.stderr)
        save(verify_again(copy, roster), copy_path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Use: python3 follow.py roster.csv copy.json")
    try:
        main(sys.argv[1], sys.argv[2])
    except ERRORS as error:
        sys.exit(str(error))
