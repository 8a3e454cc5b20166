// Verifies a roster: looks up each license and prints one line of JSON for each, in the order of the roster.
//
//   LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=… node verify.ts roster.csv
//
// Without a file, it reads standard input. The exit code is 0 if every lookup was answered, found or not, else 1.

import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './licenses-api.ts';

/** Concurrent lookups. */
const AT_ONCE = 16;
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
    | ({ found: false } & components['schemas']['NumberMiss'])
    | { error: string }
  );

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

/** Looks up one license. It never throws. */
async function verified({ board, license_number, last_name }: Line): Promise<Result> {
  const asked = { board, license_number };
  // Without a number the service would search by name, and could find somebody else's license.
  if (license_number === '') return { ...asked, error: 'The roster has no number here.' };
  try {
    const body = { board, license_number, last_name };
    const { data, error, response } = await service.POST('/api/v1/lookup/verify', { body });
    if (data !== undefined && 'license_number' in data) {
      const { status, raw_status, expiry_date, last_scraped, name_match = null } = data;
      return { ...asked, found: true, status, raw_status, expiry_date, name_match, last_scraped };
    }
    if (response.status === 404 && typeof error === 'object' && 'did_you_mean' in error) {
      return { ...asked, found: false, detail: error.detail, did_you_mean: error.did_you_mean };
    }
    return { ...asked, error: refusal(response, error) };
  } catch (error) {
    return { ...asked, error: reason(error) };
  }
}

/** The service's error, or the status if something else answered, such as a proxy. */
function refusal({ status }: Response, error: { detail: string } | undefined): string {
  return error?.detail ?? `The answer was ${status}.`;
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** The results in the order of the roster, with up to AT_ONCE concurrent lookups. */
async function* results(lines: readonly Line[]): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = [];
  for (const line of lines) {
    if (underWay.length === AT_ONCE) yield* underWay.splice(0, 1);
    underWay.push(verified(line));
  }
  yield* underWay;
}

async function verifyRoster(file: string | undefined): Promise<void> {
  const lines = linesOf(await text(file === undefined ? process.stdin : createReadStream(file)));
  // Check the address and the key once, before the first line.
  const { error, response } = await service.GET('/api/v1/lookup/boards');
  if (!response.ok) throw new Error(refusal(response, error));
  for await (const result of results(lines)) {
    process.stdout.write(`${JSON.stringify(result)}\n`);
    if ('error' in result) process.exitCode = 1;
  }
}

try {
  await verifyRoster(process.argv[2]);
} catch (error) {
  process.stderr.write(`${reason(error)}\n`);
  process.exitCode = 1;
}
