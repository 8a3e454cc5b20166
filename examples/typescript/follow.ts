// Keeps a copy of some licenses current: prints one line of JSON for each change since the last time.
//
//   LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=… node follow.ts roster.csv copy.json
//
// The roster is a CSV file with the columns board and license_number. The copy is a file that this program writes. Run
// it as often as you like, every hour or once a day: no change is lost or repeated. The first time it verifies the whole
// roster and prints nothing. The exit code is 0, or 1 when it could not finish; the copy then stays as it was.

import { readFile, rename, writeFile } from 'node:fs/promises';
import type { components } from './licenses-api.ts';
import { linesOf } from './roster.ts';
import { CursorExpiredError, changesSince, type Item, MAX_ITEMS, reason, resultsOf } from './service.ts';

type Change = components['schemas']['Changes']['changes'][number];
type FoundRecord = components['schemas']['LicenseRecord'];

/** Fields by the names that changes have, without those that are null. */
type Fields = Record<string, string>;

interface Copy {
  /** The place in the feed up to which the copy is current. */
  cursor: string;
  /** By board and number. A license that was removed has no fields. */
  licenses: Record<string, Fields>;
}

const COLUMNS = ['board', 'license_number'] as const;

/** Fields of a response that are not the license's own. */
const NOT_OF_THE_LICENSE = new Set([
  'found',
  'source',
  'last_scraped',
  'days_until_expiry',
  'cautions',
  'name_match',
  'url',
]);

/** The cursor comes first: what changes while the roster is verified is then applied twice, which does no harm. */
async function newCopy(roster: Item[]): Promise<Copy> {
  const copy: Copy = { cursor: (await changesSince('latest')).next, licenses: {} };
  for (let start = 0; start < roster.length; start += MAX_ITEMS) {
    const items = roster.slice(start, start + MAX_ITEMS);
    for (const [at, result] of (await resultsOf(items)).entries()) {
      if (result.outcome === 'found') copy.licenses[keyOf(result.record)] = fieldsOf(result.record);
      else process.stderr.write(`${JSON.stringify({ ...items[at], error: errorOf(result) })}\n`);
    }
  }
  return copy;
}

function errorOf(result: { outcome: string; detail?: string }): string {
  return result.detail ?? result.outcome;
}

function keyOf({ board, license_number }: { board: string; license_number: string }): string {
  return `${board}/${license_number}`;
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
function apply({ licenses }: Copy, change: Change): void {
  const before = licenses[keyOf(change)];
  if (before === undefined) return;
  const fields = change.kind === 'removed' ? {} : { ...before };
  if (change.kind !== 'removed') {
    for (const [name, { after }] of Object.entries(change.fields)) {
      if (after === null) delete fields[name];
      else fields[name] = after;
    }
  }
  licenses[keyOf(change)] = fields;
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
    return JSON.parse(await readFile(file, 'utf8'));
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
  try {
    await follow((await savedCopy(copyFile)) ?? (await newCopy(roster)), copyFile);
  } catch (error) {
    if (!(error instanceof CursorExpiredError)) throw error;
    process.stderr.write(
      'The changes since the last time are no longer kept; the roster is verified again.\n',
    );
    await save(await newCopy(roster), copyFile);
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
