import type { Client } from '@opensearch-project/opensearch';
import type { StoredLicense } from '../licenses/document.ts';
import { numberDigits, numberKey } from '../licenses/number.ts';
import { sharedRequests } from '../storage/batcher.ts';
import { openSearchSeconds, sharedRequestSize } from '../telemetry/metrics.ts';
import { licensesById, type Sought, searchLicenses, searchTogether } from './license-search.ts';
import type { Search } from './look-up.ts';
import {
  holdersQuery,
  MAX_MATCHES,
  NEAR_NUMBERS,
  type NearNumber,
  nearTogetherQuery,
  numbersQuery,
  type SearchBody,
  soughtHolder,
  soughtId,
  soughtNear,
  soughtNumber,
} from './queries.ts';

/**
 * Measured on two cores with 64 clients: more in a request make it late, more at once make it small. Half of the
 * clients' numbers in a request leave the process the other half's answers to write meanwhile.
 */
const NUMBERS = { most: 32, atOnce: 1 };
const HOLDERS = { most: 32, atOnce: 2 };
const NEAR = { most: 32, atOnce: 2 };
const OTHERS = { most: 16, atOnce: 4 };

/**
 * Searches of one physical index. Those that come at the same moment share requests: those for a document id go
 * together in one `_mget`; those for a number, for a surname and given name, or for what is near to a number become
 * one query each for all that are asked for; the others go side by side in one `_msearch`.
 */
export function sharedSearch(client: Client, index: string): Search {
  const byId = sharedRequests(
    measured('ids', (sought: readonly Sought[]) => licensesById(client, index, sought)),
    NUMBERS,
  );
  const numbered = sharedRequests(
    measured('numbers', inOneQuery(client, index, numbersQuery, tellNumbers)),
    NUMBERS,
  );
  const named = sharedRequests(
    measured('holders', inOneQuery(client, index, holdersQuery, tellHolders)),
    HOLDERS,
  );
  const near = sharedRequests(
    measured('near_numbers', inOneQuery(client, index, nearTogetherQuery, tellNear)),
    NEAR,
  );
  const search = sharedRequests(
    measured('others', (bodies: readonly SearchBody[]) => searchTogether(client, index, bodies)),
    OTHERS,
  );
  return (body) => {
    const id = soughtId(body);
    if (id !== undefined) return byId({ body, key: id });
    const number = soughtNumber(body);
    if (number !== undefined) return numbered({ body, key: number });
    const name = soughtHolder(body);
    if (name !== undefined) return named({ body, key: name });
    const nearNumber = soughtNear(body);
    if (nearNumber !== undefined) return near({ body, key: nearNumber });
    return search(body);
  };
}

/** Measures how many share each request and how long it takes. */
function measured<Ask, Answer>(asks: string, request: (all: readonly Ask[]) => Promise<Answer>) {
  return async (all: readonly Ask[]): Promise<Answer> => {
    sharedRequestSize.observe({ asks }, all.length);
    const ended = openSearchSeconds.startTimer({ asks });
    try {
      const answer = await request(all);
      ended({ answered: 'yes' });
      return answer;
    } catch (error) {
      ended({ answered: 'no' });
      throw error;
    }
  };
}

type Found = readonly StoredLicense[];

/** Of what one query for several keys found, what each key's own search would have; `undefined` where it is not told. */
type Tell<Key> = (found: Found) => (key: Key) => Found | undefined;

/**
 * Answers several searches by one query for all of their keys. Where its places are full, one key's many licenses
 * may have taken another's, and each is searched for by itself.
 */
function inOneQuery<Key>(
  client: Client,
  index: string,
  queryOf: (keys: readonly Key[]) => SearchBody,
  tell: Tell<Key>,
) {
  return async (sought: readonly Sought<Key>[]): Promise<readonly (Found | Promise<Found>)[]> => {
    const bodies = sought.map(({ body }) => body);
    if (bodies.length === 1) return searchTogether(client, index, bodies);
    const body = queryOf([...new Set(sought.map(({ key }) => key))]);
    const found = await searchLicenses(client, index, body);
    if (found.length === body.size) return searchTogether(client, index, bodies);
    const toldBy = tell(found);
    return sought.map(({ key, body: own }) => toldBy(key) ?? searchLicenses(client, index, own));
  };
}

/** For each number key the licenses that have it. */
function tellNumbers(found: Found) {
  const byKey = Map.groupBy(found, (license) => numberKey(license.license_number));
  return (key: string): Found => byKey.get(key) ?? [];
}

/** For each beginning of a name key the persons whose key begins so, as many as its own search would give. */
function tellHolders(found: Found) {
  return (key: string): Found =>
    found.filter(({ keys }) => keys.holder.some((name) => name.startsWith(key))).slice(0, MAX_MATCHES + 1);
}

/** For each number that no license has those near to it; more than its own search would give are not told. */
function tellNear(found: Found) {
  return ({ digits, beginning }: NearNumber): Found | undefined => {
    const near = found.filter(
      ({ license_number: number }) =>
        numberDigits(number) === digits ||
        (beginning !== undefined && numberKey(number).startsWith(beginning)),
    );
    return near.length > NEAR_NUMBERS ? undefined : near;
  };
}
