import type { Client } from '@opensearch-project/opensearch';
import type { StoredLicense } from '../licenses/document.ts';
import type { Search } from '../licenses/lookup.ts';
import { numberKey } from '../licenses/number.ts';
import { numbersQuery, type SearchBody, soughtNumber } from '../licenses/queries.ts';
import { sharedRequests } from '../shared-requests.ts';
import { searchLicenses, searchTogether } from './license-search.ts';

/** Measured on two cores with 64 clients: more in a request make it late, more at once make it small. */
const NUMBERS = { most: 64, atOnce: 2 };
const OTHERS = { most: 16, atOnce: 4 };

/**
 * Searches of one physical index. Those that come at the same moment share requests: those for one number each
 * become one query for all the numbers, the others go side by side in one `_msearch`.
 */
export function sharedSearch(client: Client, index: string): Search {
  const withNumber = sharedRequests((keys: readonly string[]) => withNumbers(client, index, keys), NUMBERS);
  const search = sharedRequests(
    (bodies: readonly SearchBody[]) => searchTogether(client, index, bodies),
    OTHERS,
  );
  return (body) => {
    const key = soughtNumber(body);
    return key === undefined ? search(body) : withNumber(key);
  };
}

/** For each of the keys the licences that have it. */
async function withNumbers(
  client: Client,
  index: string,
  keys: readonly string[],
): Promise<(readonly StoredLicense[])[]> {
  const body = numbersQuery([...new Set(keys)]);
  const found = await searchLicenses(client, index, body);
  // One key's many licences must not take the places of another's.
  if (found.length === body.size && keys.length > 1) {
    return Promise.all(keys.map((key) => searchLicenses(client, index, numbersQuery([key]))));
  }
  const byKey = Map.groupBy(found, (license) => numberKey(license.license_number));
  return keys.map((key) => byKey.get(key) ?? []);
}
