import type { Client } from '@opensearch-project/opensearch';
import type { StoredLicense } from '../licenses/document.ts';
import type { Search } from '../licenses/lookup.ts';
import { numberKey } from '../licenses/number.ts';
import {
  holdersQuery,
  MAX_MATCHES,
  numbersQuery,
  type SearchBody,
  soughtHolder,
  soughtNumber,
} from '../licenses/queries.ts';
import { sharedRequests } from '../shared-requests.ts';
import { searchLicenses, searchTogether } from './license-search.ts';

/** Measured on two cores with 64 clients: more in a request make it late, more at once make it small. */
const NUMBERS = { most: 64, atOnce: 1 };
const HOLDERS = { most: 32, atOnce: 2 };
const OTHERS = { most: 16, atOnce: 4 };

/** One search of its own, and what it asks for. */
interface Sought {
  readonly body: SearchBody;
  readonly key: string;
}

/**
 * Searches of one physical index. Those that come at the same moment share requests: those for one number each
 * become one query for all the numbers, those for a surname and given name one for all the names; the others go
 * side by side in one `_msearch`.
 */
export function sharedSearch(client: Client, index: string): Search {
  const numbered = sharedRequests((sought: readonly Sought[]) => withNumbers(client, index, sought), NUMBERS);
  const named = sharedRequests((sought: readonly Sought[]) => withNames(client, index, sought), HOLDERS);
  const search = sharedRequests(
    (bodies: readonly SearchBody[]) => searchTogether(client, index, bodies),
    OTHERS,
  );
  return (body) => {
    const number = soughtNumber(body);
    if (number !== undefined) return numbered({ body, key: number });
    const name = soughtHolder(body);
    return name === undefined ? search(body) : named({ body, key: name });
  };
}

type Found = readonly StoredLicense[];

/** For each number key the licences that have it. */
async function withNumbers(
  client: Client,
  index: string,
  sought: readonly Sought[],
): Promise<readonly (Found | Promise<Found>)[]> {
  const body = numbersQuery([...new Set(sought.map(({ key }) => key))]);
  const found = await searchLicenses(client, index, body);
  if (mayLackSome(found, body, sought)) return searchTogether(client, index, bodiesOf(sought));
  const byKey = Map.groupBy(found, (license) => numberKey(license.license_number));
  return sought.map(({ key }) => byKey.get(key) ?? []);
}

/** For each beginning of a name key the persons whose key begins so, as many as its own search would give. */
async function withNames(
  client: Client,
  index: string,
  sought: readonly Sought[],
): Promise<readonly (Found | Promise<Found>)[]> {
  if (sought.length === 1) return searchTogether(client, index, bodiesOf(sought));
  const body = holdersQuery([...new Set(sought.map(({ key }) => key))]);
  const found = await searchLicenses(client, index, body);
  if (mayLackSome(found, body, sought)) return searchTogether(client, index, bodiesOf(sought));
  return sought.map(({ key }) =>
    found.filter(({ keys }) => keys.holder.some((name) => name.startsWith(key))).slice(0, MAX_MATCHES + 1),
  );
}

/** Whether one key's many licences may have taken the places of another's. */
function mayLackSome(found: Found, { size }: SearchBody, sought: readonly Sought[]): boolean {
  return found.length === size && sought.length > 1;
}

function bodiesOf(sought: readonly Sought[]): SearchBody[] {
  return sought.map(({ body }) => body);
}
