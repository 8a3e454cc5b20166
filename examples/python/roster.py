"""Reads a roster, a CSV file whose first line names its columns."""

import csv


def lines_of(file, columns):
    """The lines with these columns. `file` is a path, or 0 for standard input."""
    with open(file, encoding="utf-8-sig", newline="") as text:
        reader = csv.DictReader(text)
        for name in columns:
            if name not in (reader.fieldnames or []):
                raise ValueError(f"The roster's first line must name a column {name}.")
        return [{name: (line[name] or "").strip() for name in columns} for line in reader]
