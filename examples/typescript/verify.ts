// Verifies a roster: looks up its licenses, 1,000 in a request, and prints one line of JSON for each, in their order.
//
//   LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=… node verify.ts roster.csv
//
// Without a file, it reads standard input. The exit code is 0 if every lookup was answered, found or not, else 1.

import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './licenses-api.ts';

/** In one request. */
const MAX_ITEMS = 1000;
const MAX_TRIES = 5;
/** If Retry-After is longer, give up. */
const MAX_SECONDS = 120;
const ANSWERED_WITHIN_MS = 30_000;

const COLUMNS = ['board', 'license_number', 'last_name'] as const;

/** A line of the roster; the surname may be blank. */
type Line = Record<(typeof COLUMNS)[number], string>;

type Told = 'status' | 'raw_status' | 'expiry_date' | 'last_scraped';

/** The result for one line. A number that was not found does not mean that its holder is unlicensed. */
type Result = Pick<Line, 'board' | 'license_number'> &
  (
    | ({ found: true; name_match: boolean | null } & Pick<components['schemas']['LicenseRecord'], Told>)
    | { found: false; detail: string; did_you_mean: string[] }
    | { error: string }
  );

type Item = components['schemas']['RosterItem'];
type ItemResult = components['schemas']['RosterAnswer']['results'][number];

const service = createClient<paths>({
  baseUrl: process.env.LICENSES_URL ?? 'http://127.0.0.1:8080',
  headers: { 'X-API-Key': process.env.LICENSES_KEY ?? '' },
  fetch: patientFetch,
});

/** After 429 and 503 it waits for Retry-After and retries, up to MAX_TRIES times. */
async function patientFetch(request: Request): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(request.clone(), { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
    if (![429, 503].includes(response.status)) return response;
    const seconds = Number(response.headers.get('Retry-After')) || 1;
    if (tries === MAX_TRIES || seconds > MAX_SECONDS) return response;
    await response.body?.cancel();
    await sleep(seconds * 1000);
  }
}

/**
 * The lines of a CSV file whose first line names the columns. A field with a comma must be in quotes, such as the
 * names of some boards. No field may have a line break.
 */
function linesOf(csv: string): Line[] {
  const [header = [], ...rows] = csv
    .split(/\r?\n/)
    .filter((row) => row.trim() !== '')
    .map(fieldsOf);
  for (const name of COLUMNS) {
    if (!header.includes(name)) throw new Error(`The roster's first line must name a column ${name}.`);
  }
  return rows.map((fields) => {
    const field = (name: keyof Line) => fields[header.indexOf(name)]?.trim() ?? '';
    return {
      board: field('board'),
      license_number: field('license_number'),
      last_name: field('last_name'),
    };
  });
}

function fieldsOf(row: string): string[] {
  const fields = `,${row}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...fields].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
}

/** The lookup of one line. Without a number, nothing is asked: a name alone could find somebody else's license. */
function asked({ board, license_number, last_name }: Line): Item {
  return license_number === '' ? {} : { board, license_number, last_name };
}

/** The service's results for some lines, in their order. */
async function resultsOf(lines: readonly Line[]): Promise<readonly ItemResult[]> {
  const { data, error, response } = await service.POST('/api/v1/lookup/batch', {
    body: { items: lines.map(asked) },
    // The operation takes CSV, too.
    bodySerializer: (body) => JSON.stringify(body),
  });
  if (typeof data !== 'object') throw new Error(error?.detail ?? `The answer was ${response.status}.`);
  return data.results;
}

/** What is printed for one line. */
function told({ board, license_number }: Line, result: ItemResult): Result {
  const fields = { board, license_number };
  if (license_number === '') return { ...fields, error: 'The roster has no number here.' };
  switch (result.outcome) {
    case 'found': {
      const { status, raw_status, expiry_date, last_scraped, name_match = null } = result.record;
      return { ...fields, found: true, status, raw_status, expiry_date, name_match, last_scraped };
    }
    case 'not_found':
      return { ...fields, found: false, detail: result.detail, did_you_mean: result.did_you_mean };
    case 'ambiguous':
      return { ...fields, error: 'Several licenses match.' };
    case 'invalid':
      return { ...fields, error: result.detail };
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

async function verifyRoster(file: string | undefined): Promise<void> {
  const lines = linesOf(await text(file === undefined ? process.stdin : createReadStream(file)));
  for (let start = 0; start < lines.length; start += MAX_ITEMS) {
    const chunk = lines.slice(start, start + MAX_ITEMS);
    const results = await resultsOf(chunk);
    for (const [at, line] of chunk.entries()) {
      const result = results[at];
      if (result === undefined) throw new Error('The service did not answer every line.');
      const output = told(line, result);
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
