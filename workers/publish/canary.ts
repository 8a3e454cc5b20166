import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { boardByName } from '../../src/licenses/boards.ts';
import { fold } from '../../src/licenses/fold.ts';
import { type LicenseRecord, licenseRecord } from '../../src/licenses/license.ts';
import {
  BadRequestError,
  isPossible,
  type LookupOutcome,
  type LookupRequest,
} from '../../src/licenses/lookup.ts';
import { firstGivenName, holderToSearch } from '../../src/licenses/names.ts';
import { type Lookups, liveLookups } from '../../src/lookup/service.ts';
import { type LivePublication, readPublication } from '../../src/publications/live.ts';
import { liveIndex } from '../../src/publications/metadata.ts';
import { retried } from '../../src/storage/retry.ts';
import type { Store } from '../../src/storage/store.ts';
import { sentLicense, type Tally } from './tally.ts';

/** OpenSearch on a busy machine may answer too late. */
const RETRIES = {
  tries: 3,
  firstWaitMs: 1000,
  isWorthIt: (error: unknown) => !(error instanceof BadRequestError),
};

/** The number of persons, and of businesses, that are looked up for each board. */
const LICENSES_OF_KIND = 3;

/**
 * Looks up some licenses of each board through the lookup service, as clients do, by number and by name, in an index
 * that is not live yet.
 *
 * @returns one sentence for each answer that differs from the files, without a holder's name
 * @throws what the lookup service throws when it does not answer three times
 * @throws the lookup service's error when it fails three times
 */
export async function askCanary(store: Store, index: string, { boards }: Pick<Tally, 'boards'>) {
  const lookups = lookupsIn(store, await readPublication(store, index));
  const wrong: string[] = [];
  for (const { sample } of boards.values()) {
    const licenses = sample.map((each) => knownLicense.parse(sentLicense(each)));
    const kinds = Map.groupBy(licenses, ({ keys }) => keys.kind).values();
    const chosen = [...kinds].flatMap((kind) => kind.slice(0, LICENSES_OF_KIND));
    const asked = chosen.flatMap(lookupsOf).map(async ({ request, expected }) => {
      const ask = async () => isAnswered((await lookups.lookUp(request)).outcome, expected);
      if (!(await retried(ask, RETRIES).catch(falseIfRefused)))
        wrong.push(
          `${expected.board} ${expected.license_number}, by ${request.by}: the answer differs from the files`,
        );
    });
    await Promise.all(asked);
  }
  return wrong;
}

/** Whether a lookup through the alias finds a license in one of three tries. */
export function isFoundThroughAlias(store: Store): Promise<boolean> {
  const look = async () => {
    const lookups = lookupsIn(store, await readPublication(store, (await liveIndex(store)) ?? ''));
    if (!(await lookups.isAnswering())) throw new Error('A lookup through the alias finds nothing.');
    return true;
  };
  return retried(look, RETRIES).catch(() => false);
}

function lookupsIn(store: Store, publication: LivePublication): Lookups {
  return liveLookups(store, { current: () => publication, refresh: async () => publication });
}

function falseIfRefused(error: unknown): false {
  if (error instanceof BadRequestError) return false;
  throw error;
}

const knownLicense = licenseRecord.extend({ keys: z.object({ kind: z.enum(['person', 'business']) }) });

/**
 * Returns the lookups that must find a license: one by number and, if its name can be searched, one by name. A person
 * is searched by surname and first given name. If the label is not a board of the catalog, there is no lookup, because
 * clients cannot name the board.
 */
function lookupsOf({ keys, ...expected }: z.output<typeof knownLicense>) {
  const { license_number: number, full_name: name } = expected;
  const board = boardByName(expected.board);
  if (board === undefined) return [];
  const isBusiness = keys.kind === 'business';
  const requests: LookupRequest[] = [{ by: 'number', board, number, businessOnly: isBusiness }];
  if (isBusiness && fold(name) !== '') requests.push({ by: 'business', board, name, filters: {} });
  const holder = isBusiness ? undefined : holderToSearch(name);
  if (holder !== undefined) {
    const first = firstGivenName(holder.firstName ?? '');
    const given = fold(first) === '' ? {} : { firstName: first };
    requests.push({ by: 'person', board, lastName: holder.lastName, ...given, filters: {} });
  }
  return requests.filter(isPossible).map((request) => ({ request, expected }));
}

/**
 * Whether the answer contains the expected license. An exact number must find that license, even if others of the board
 * have similar numbers. A name shared by a hundred licenses or more proves nothing, so it passes.
 */
function isAnswered(outcome: LookupOutcome, expected: LicenseRecord): boolean {
  const isExpected = (record: LicenseRecord) => isDeepStrictEqual(licenseRecord.parse(record), expected);
  if (outcome.outcome === 'found') return isExpected(outcome.record);
  return outcome.outcome === 'several' && (outcome.truncated || outcome.records.some(isExpected));
}
