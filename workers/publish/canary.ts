import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Board, boardByName } from '../../src/licenses/boards.ts';
import { fold } from '../../src/licenses/fold.ts';
import { type LicenseRecord, licenseRecord } from '../../src/licenses/license-record.ts';
import type { LookupOutcome } from '../../src/licenses/lookup-outcome.ts';
import type { LookupRequest } from '../../src/licenses/lookup-request.ts';
import { type DatedOutcome, liveLookups } from '../../src/lookup/service.ts';
import { trackLivePublication } from '../../src/publications/live.ts';
import type { Store } from '../../src/storage/store.ts';
import type { SampledDocument, Tally } from './tally.ts';

const MAX_TRIES = 3;
const PAUSE_MS = 1000;

/**
 * Asks the lookup path, as clients do, for one known license of each board, by number and by name, once the
 * publication is live. Never throws: a lookup that fails three times is a difference.
 *
 * @param date the publication's run date, `YYYY-MM-DD`
 * @returns one sentence for each answer that differs from the files, without a holder's name
 */
export async function askCanary(store: Store, date: string, samples: Tally['samples']): Promise<string[]> {
  const lookups = canaryLookups(samples);
  const tracker = trackLivePublication(store, () => undefined);
  const live = liveLookups(store.client, tracker);
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

const sampledLicense = licenseRecord.extend({ keys: z.object({ kind: z.enum(['person', 'business']) }) });

/** A label that is no board of the catalog gets no lookup, since clients cannot name it. */
function canaryLookups(samples: Tally['samples']): CanaryLookup[] {
  return [...samples].flatMap(([label, [first]]) => {
    const board = boardByName(label);
    return board === undefined || first === undefined ? [] : lookupsOf(board, first);
  });
}

function lookupsOf(board: Board, { body }: SampledDocument): CanaryLookup[] {
  const { keys, ...expected } = sampledLicense.parse(JSON.parse(body.split('\n')[1] ?? ''));
  const isBusiness = keys.kind === 'business';
  const byNumber = {
    by: 'number',
    board,
    number: expected.license_number,
    businessOnly: isBusiness,
  } as const;
  const byName = isBusiness ? businessLookup(board, expected) : personLookup(board, expected);
  return [byNumber, ...byName].map((request) => ({ request, expected }));
}

function businessLookup(board: Board, { full_name: name }: LicenseRecord): LookupRequest[] {
  return fold(name) === '' ? [] : [{ by: 'business', board, name, filters: {} }];
}

/** By surname and first given name. */
function personLookup(board: Board, { full_name }: LicenseRecord): LookupRequest[] {
  const [lastName = '', given = ''] = full_name.split(', ');
  if (fold(lastName) === '') return [];
  const [firstName = ''] = given.split(' ');
  return [{ by: 'person', board, lastName, ...(fold(firstName) === '' ? {} : { firstName }), filters: {} }];
}

/** Whether the license is in the answer, or may be among those that a long answer leaves out. */
function isAnswered(outcome: LookupOutcome, expected: LicenseRecord): boolean {
  const isExpected = (record: LicenseRecord) => isDeepStrictEqual(licenseRecord.parse(record), expected);
  if (outcome.outcome === 'record') return isExpected(outcome.record);
  return outcome.outcome === 'matches' && (outcome.truncated || outcome.records.some(isExpected));
}
