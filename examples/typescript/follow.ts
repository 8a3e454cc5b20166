// Keeps a copy of some licenses current: prints one line of JSON for each change since the last time.
//
//   LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=… node follow.ts roster.csv copy.json
//
// The roster is a CSV file with the columns board and license_number. The copy is a file that this program writes. Each
// run looks up the lines of the roster that the copy does not have: at first all, later new lines and numbers that were
// not found, which it writes to standard error each time. Then it reads the changes. Run it as often as you like, every
// hour or once a day: no change is lost. After a stop in the middle, some may be printed again. For a license that is
// new in the copy, changes from before it was looked up may be printed. When the changes since the last time are no
// longer kept, it looks up all licenses again and prints how they differ. The exit code is 0, or 1 when it could not
// finish; the next run then continues.

import { readFile, rename, writeFile } from 'node:fs/promises';
import type { components } from './licenses-api.ts';
import { linesOf } from './roster.ts';
import { CursorExpiredError, changesSince, MAX_ITEMS, reason, resultsOf } from './service.ts';

type Change = components['schemas']['Change'];
type FoundRecord = components['schemas']['LicenseRecord'];

/** Fields by the names that changes have, without those that are null. */
type Fields = Record<string, string>;

interface Copy {
  /** The place in the feed up to which the copy is current. */
  cursor: string;
  /** The key in `licenses` of each line of the roster, by its board and number as written there. */
  numbers: Record<string, string>;
  /** By board and number. A license that was removed has no fields. */
  licenses: Record<string, Fields>;
}

const COLUMNS = ['board', 'license_number'] as const;

type Line = Record<(typeof COLUMNS)[number], string>;

/** Fields of a response that are not the license's own. */
const NOT_OF_THE_LICENSE = new Set([
  'found',
  'source',
  'last_scraped',
  'days_until_expiry',
  'cautions',
  'notes',
  'data_age_days',
  'name_at_board',
  'name_match',
  'url',
]);

/** The cursor comes before any lookup: what changes meanwhile is then applied twice, which does no harm. */
async function newCopy(): Promise<Copy> {
  return { cursor: (await changesSince('latest')).next, numbers: {}, licenses: {} };
}

/** Looks up the lines whose license is not known. Fields that the copy has stay: only changes alter them. */
async function lookUp({ numbers, licenses }: Copy, lines: readonly Line[]): Promise<void> {
  const unknown = new Map(lines.map((line) => [keyOf(line), line]));
  for (const key of Object.keys(numbers)) unknown.delete(key);
  const items = [...unknown.values()];
  for (let start = 0; start < items.length; start += MAX_ITEMS) {
    const chunk = items.slice(start, start + MAX_ITEMS);
    const results = await resultsOf(chunk);
    for (const [at, item] of chunk.entries()) {
      const result = results[at];
      if (result === undefined) throw new Error('The service did not answer every line.');
      if (result.outcome === 'found') {
        const key = keyOf(result.record);
        numbers[keyOf(item)] = key;
        licenses[key] ??= fieldsOf(result.record);
      } else {
        process.stderr.write(`${JSON.stringify({ ...item, error: errorOf(result) })}\n`);
      }
    }
  }
}

/** A new copy. Prints how the licenses of the old one differ, also of those that the roster has no longer. */
async function verifyAgain(old: Copy, roster: readonly Line[]): Promise<Copy> {
  const copy = await newCopy();
  await lookUp(copy, [...roster, ...Object.keys(old.licenses).map(lineOf)]);
  for (const [key, before] of Object.entries(old.licenses)) {
    const after = copy.licenses[key] ?? {};
    copy.licenses[key] = after;
    const fields = difference(before, after);
    if (!isEmpty(fields)) {
      const kind = isEmpty(before) ? 'added' : isEmpty(after) ? 'removed' : 'changed';
      process.stdout.write(`${JSON.stringify({ kind, ...lineOf(key), fields })}\n`);
    }
  }
  return { ...copy, numbers: { ...old.numbers, ...copy.numbers } };
}

/** The fields that differ, as changes have them. */
function difference(before: Fields, after: Fields): Change['fields'] {
  const pairs = Object.keys({ ...before, ...after }).map(
    (name) => [name, { before: before[name] ?? null, after: after[name] ?? null }] as const,
  );
  return Object.fromEntries(pairs.filter(([, pair]) => pair.before !== pair.after));
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}

function errorOf(result: { outcome: string; detail?: string }): string {
  return result.detail ?? result.outcome;
}

/** It has a slash, so it is never the name of a property that every object has. */
function keyOf({ board, license_number }: Line): string {
  return `${board}/${license_number}`;
}

/** The line of a roster with this key. No board's name has a slash. */
function lineOf(key: string): Line {
  const slash = key.indexOf('/');
  return { board: key.slice(0, slash), license_number: key.slice(slash + 1) };
}

function fieldsOf({ extra_data, ...record }: FoundRecord): Fields {
  const extra = Object.entries(extra_data).map(([name, value]) => [`extra_data.${name}`, value] as const);
  return Object.fromEntries(
    [...Object.entries(record), ...extra].flatMap(([name, value]) =>
      typeof value !== 'string' || NOT_OF_THE_LICENSE.has(name) ? [] : [[name, value]],
    ),
  );
}

/** Applies a change to the copy and prints it, if it is of one of its licenses. */
function apply({ licenses, numbers }: Copy, change: Change): void {
  const key = keyOf(change);
  const earlier = keyOf({ ...change, license_number: change.renumbered_from ?? '' });
  if (licenses[earlier] !== undefined) {
    // The State writes the number in another way: it is the same license.
    licenses[key] ??= {};
    for (const [line, known] of Object.entries(numbers)) if (known === earlier) numbers[line] = key;
  }
  const before = licenses[key];
  if (before === undefined) return;
  const fields = change.kind === 'removed' ? {} : { ...before };
  if (change.kind !== 'removed') {
    for (const [name, { after }] of Object.entries(change.fields)) {
      if (after === null) delete fields[name];
      else fields[name] = after;
    }
  }
  licenses[key] = fields;
  process.stdout.write(`${JSON.stringify(change)}\n`);
}

/** Replaces the copy as a whole, so that it is never half written. */
async function save(copy: Copy, file: string): Promise<void> {
  await writeFile(`${file}.part`, JSON.stringify(copy));
  await rename(`${file}.part`, file);
}

async function follow(copy: Copy, file: string): Promise<void> {
  for (;;) {
    const { changes, next, more } = await changesSince(copy.cursor);
    for (const change of changes) apply(copy, change);
    copy.cursor = next;
    await save(copy, file);
    if (!more) return;
  }
}

async function savedCopy(file: string): Promise<Copy | undefined> {
  try {
    const copy: Omit<Copy, 'numbers'> & Partial<Copy> = JSON.parse(await readFile(file, 'utf8'));
    // An earlier version of this program saved no numbers.
    return { numbers: Object.fromEntries(Object.keys(copy.licenses).map((key) => [key, key])), ...copy };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function keepCurrent(rosterFile: string, copyFile: string): Promise<void> {
  const roster = linesOf(await readFile(rosterFile, 'utf8'), COLUMNS).map((field) => ({
    board: field('board'),
    license_number: field('license_number'),
  }));
  const copy = (await savedCopy(copyFile)) ?? (await newCopy());
  try {
    await lookUp(copy, roster);
    await follow(copy, copyFile);
  } catch (error) {
    if (!(error instanceof CursorExpiredError)) throw error;
    process.stderr.write(
      'The changes since the last time are no longer kept; all licenses are looked up again.\n',
    );
    await save(await verifyAgain(copy, roster), copyFile);
  }
}

const [rosterFile, copyFile] = process.argv.slice(2);
try {
  if (rosterFile === undefined || copyFile === undefined)
    throw new Error('Use: node follow.ts roster.csv copy.json');
  await keepCurrent(rosterFile, copyFile);
} catch (error) {
  process.stderr.write(`${reason(error)}\n`);
  process.exitCode = 1;
}
