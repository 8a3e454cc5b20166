// Verifies a roster: looks up its licenses, 1,000 in a request, and prints one line of JSON for each, in their order.
//
//   LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=… node verify.ts roster.csv
//
// Without a file, it reads standard input. The exit code is 0 if every lookup was answered, found or not, else 1.

import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { components } from './licenses-api.ts';
import { linesOf } from './roster.ts';
import { type Item, type ItemResult, MAX_ITEMS, reason, resultsOf } from './service.ts';

const COLUMNS = ['board', 'license_number', 'last_name'] as const;

/** A line of the roster; the surname may be blank. */
type Line = Record<(typeof COLUMNS)[number], string>;

type ShownField = 'status' | 'raw_status' | 'expiry_date' | 'license_type' | 'cautions' | 'last_scraped';

/** The result for one line. A number that was not found does not mean that its holder is unlicensed. */
type Result = Pick<Line, 'board' | 'license_number'> &
  (
    | ({ found: true; name_match: boolean | null } & Pick<components['schemas']['LicenseRecord'], ShownField>)
    | { found: false; detail: string; did_you_mean: string[] }
    | { error: string }
  );

/** The lookup of one line. Without a number, nothing is asked: a name alone could find somebody else's license. */
function asked({ board, license_number, last_name }: Line): Item {
  return license_number === '' ? {} : { board, license_number, last_name };
}

/** What is printed for one line. */
function shown({ board, license_number }: Line, result: ItemResult): Result {
  const fields = { board, license_number };
  if (license_number === '') return { ...fields, error: 'The roster has no number here.' };
  switch (result.outcome) {
    case 'found': {
      const { status, raw_status, expiry_date, license_type, cautions, last_scraped } = result.record;
      const license = { status, raw_status, expiry_date, license_type, cautions };
      const { name_match = null } = result.record;
      return { ...fields, found: true, ...license, name_match, last_scraped };
    }
    case 'not_found':
      return { ...fields, found: false, detail: result.detail, did_you_mean: result.did_you_mean };
    case 'ambiguous':
      return { ...fields, error: 'Several licenses match.' };
    case 'invalid':
      return { ...fields, error: result.detail };
  }
}

async function verifyRoster(file: string | undefined): Promise<void> {
  const csv = await text(file === undefined ? process.stdin : createReadStream(file));
  const lines = linesOf(csv, COLUMNS).map(
    (field): Line => ({
      board: field('board'),
      license_number: field('license_number'),
      last_name: field('last_name'),
    }),
  );
  for (let start = 0; start < lines.length; start += MAX_ITEMS) {
    const chunk = lines.slice(start, start + MAX_ITEMS);
    const results = await resultsOf(chunk.map(asked));
    for (const [at, line] of chunk.entries()) {
      const result = results[at];
      if (result === undefined) throw new Error('The service did not answer every line.');
      const output = shown(line, result);
      process.stdout.write(`${JSON.stringify(output)}\n`);
      if ('error' in output) process.exitCode = 1;
    }
  }
}

try {
  await verifyRoster(process.argv[2]);
} catch (error) {
  process.stderr.write(`${reason(error)}\n`);
  process.exitCode = 1;
}
