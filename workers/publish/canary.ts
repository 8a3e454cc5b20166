import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { BOARDS, type Board, boardByName } from '../../src/licenses/boards.ts';
import { fold, MAX_FOLDED_CHARACTERS } from '../../src/licenses/fold.ts';
import { type LicenseRecord, licenseRecord } from '../../src/licenses/license.ts';
import { type LookupOutcome, type LookupRequest, typedTexts } from '../../src/licenses/lookup.ts';
import { firstGivenName, holderToSearch } from '../../src/licenses/names.ts';
import { type DatedOutcome, liveLookups } from '../../src/lookup/service.ts';
import { trackLivePublication } from '../../src/publications/live.ts';
import type { LicensesIndex } from '../../src/publications/metadata.ts';
import { search } from '../../src/storage/checked-search.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Tally } from './tally.ts';

const MAX_TRIES = 3;
const PAUSE_MS = 1000;

/**
 * Asks the lookup path, as clients do, for one known license of each board, by number and by name, once the
 * publication is live. Never throws: a lookup that fails three times is a difference.
 *
 * @param date the publication's run date, `YYYY-MM-DD`
 * @returns one sentence for each answer that differs from the files, without a holder's name
 */
export async function askCanary(
  store: Store,
  date: string,
  licenses: readonly KnownLicense[],
): Promise<string[]> {
  const lookups = licenses.flatMap(lookupsOf);
  const tracker = trackLivePublication(store, () => undefined);
  const live = liveLookups(store, tracker);
  try {
    const differences = await Promise.all(
      lookups.map(async ({ request, expected }) => {
        const what = `${expected.board} ${expected.license_number}, by ${request.by}`;
        try {
          const answer = await answered(() => live.lookUp(request));
          if (answer.date !== date) return `${what}: answered from the dataset of ${answer.date}`;
          return isAnswered(answer.outcome, expected) ? [] : `${what}: the answer differs from the files`;
        } catch (error) {
          return `${what}: ${error instanceof Error ? error.message : String(error)}`;
        }
      }),
    );
    return differences.flat();
  } finally {
    tracker.stop();
  }
}

/** Tries a lookup again that failed: on a busy machine OpenSearch may answer too late. A wrong answer is not a failure. */
async function answered(lookUp: () => Promise<DatedOutcome>): Promise<DatedOutcome> {
  for (let tries = 1; tries < MAX_TRIES; tries += 1) {
    try {
      return await lookUp();
    } catch {
      await sleep(PAUSE_MS);
    }
  }
  return lookUp();
}

interface CanaryLookup {
  readonly request: LookupRequest;
  readonly expected: LicenseRecord;
}

const knownLicense = licenseRecord.extend({ keys: z.object({ kind: z.enum(['person', 'business']) }) });

/** A license that must be found. */
export type KnownLicense = z.output<typeof knownLicense>;

/** One license of each board, as it was sent. */
export function licensesSent(samples: Tally['samples']): KnownLicense[] {
  return [...samples.values()].flatMap(([first]) =>
    first === undefined ? [] : [knownLicense.parse(JSON.parse(first.body.split('\n')[1] ?? ''))],
  );
}

const hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: knownLicense })) }) });

/** One license of each board, from the index: where the process that sent them was killed. */
export async function licensesStored({ client }: Store, { index }: LicensesIndex): Promise<KnownLicense[]> {
  const found = await Promise.all(
    BOARDS.map(({ name }) =>
      search(client, hits, { index, body: { size: 1, query: { term: { board: name } } } }),
    ),
  );
  return found.flatMap((each) => each.hits.hits.map((hit) => hit._source));
}

/** A label that is no board of the catalog gets no lookup, since clients cannot name it. */
function lookupsOf({ keys, ...expected }: KnownLicense): CanaryLookup[] {
  const board = boardByName(expected.board);
  if (board === undefined) return [];
  const isBusiness = keys.kind === 'business';
  const byNumber = {
    by: 'number',
    board,
    number: expected.license_number,
    businessOnly: isBusiness,
  } as const;
  const byName = isBusiness ? businessLookup(board, expected) : personLookup(board, expected);
  return [byNumber, ...byName].filter(isPossible).map((request) => ({ request, expected }));
}

/** Whether a lookup searches for what was asked: it finds nothing for longer texts. */
function isPossible(request: LookupRequest): boolean {
  return typedTexts(request).every((text) => fold(text).length <= MAX_FOLDED_CHARACTERS);
}

function businessLookup(board: Board, { full_name: name }: LicenseRecord): LookupRequest[] {
  return fold(name) === '' ? [] : [{ by: 'business', board, name, filters: {} }];
}

/** By surname and first given name. */
function personLookup(board: Board, { full_name: name }: LicenseRecord): LookupRequest[] {
  const holder = holderToSearch(name);
  if (holder === undefined) return [];
  const first = firstGivenName(holder.firstName ?? '');
  const given = fold(first) === '' ? {} : { firstName: first };
  return [{ by: 'person', board, lastName: holder.lastName, ...given, filters: {} }];
}

/** Whether the license is in the answer, or may be among those that a long answer leaves out. */
function isAnswered(outcome: LookupOutcome, expected: LicenseRecord): boolean {
  const isExpected = (record: LicenseRecord) => isDeepStrictEqual(licenseRecord.parse(record), expected);
  if (outcome.outcome === 'found') return isExpected(outcome.record);
  return outcome.outcome === 'several' && (outcome.truncated || outcome.records.some(isExpected));
}
