import { licenseId } from '../../src/licenses/license-document.ts';
import type { Asked } from './asked.ts';
import {
  type BareQuery,
  GIVEN_LETTERS,
  NAME_FIRST_WRITTEN,
  NAME_TUNED,
  NAME_TUNED_WHOLE,
  NUMBER_TERM,
  NUMBER_TERM_WHOLE,
} from './bare-queries.ts';
import type { Load } from './load.ts';
import {
  MISS_BUSY,
  MISS_REST,
  NAME_BARE,
  NAME_BARE_WHOLE,
  NAME_FIRST,
  NAME_REST,
  NUMBER_BARE,
  NUMBER_BARE_WHOLE,
  NUMBER_GET,
  NUMBER_MCP,
  NUMBER_MGET,
  NUMBER_MGET_32,
  NUMBER_REST,
} from './names.ts';

/** One way of asking, measured beside the others. */
export interface Contender {
  readonly name: string;
  /** How many lookups a round has. */
  readonly count: number;
  readonly load: Omit<Load, 'asks'>;
  /** How many lookups one request has; 1 when left out. */
  readonly lookupsPerRequest?: number;
  /** The body of a request for these licenses, or with GET what follows the path. */
  readonly ask: (asked: Asked, ...others: readonly Asked[]) => object | string;
}

/** Where the servers are. */
export interface Servers {
  readonly openSearch: string;
  /** The live physical index. */
  readonly index: string;
  /** The same licenses in an index as one makes it first. */
  readonly firstIndex: string;
  readonly api: string;
  readonly key: string;
}

const CONNECTIONS = 64;
/** The most numbers that the service sends in one `_mget`. */
const BATCH = 32;
/** More than the API answers with suggestions at once. */
const BUSY_CONNECTIONS = 256;

const JSON_HEADERS = { 'content-type': 'application/json' };

export function contenders({ openSearch, index, firstIndex, api, key }: Servers): Contender[] {
  const bare = ({ path, body }: BareQuery, asked = index) => ({
    load: {
      method: 'POST' as const,
      origin: openSearch,
      path: `/${asked}${path}`,
      headers: JSON_HEADERS,
      status: 200,
      expected: '"license_number"',
      connections: CONNECTIONS,
    },
    ask: body,
  });
  const byId = (lookupsPerRequest: number) => ({
    load: {
      ...bare(NUMBER_TERM).load,
      path: `/${index}/_mget?realtime=false`,
      connections: CONNECTIONS / lookupsPerRequest,
    },
    lookupsPerRequest,
    ask: (...asked: readonly Asked[]) => ({
      ids: asked.map(({ board, number }) => licenseId(board, number)),
    }),
  });
  const rest = restLoad({ api, key });
  const missed = missedLoad(rest);
  return [
    { name: NUMBER_BARE, count: 60_000, ...bare(NUMBER_TERM) },
    { name: NUMBER_BARE_WHOLE, count: 60_000, ...bare(NUMBER_TERM_WHOLE) },
    {
      name: NUMBER_GET,
      count: 100_000,
      load: { ...bare(NUMBER_TERM).load, method: 'GET', path: `/${index}/_doc/` },
      ask: ({ board, number }) => `${encodeURIComponent(licenseId(board, number))}?realtime=false`,
    },
    { name: NUMBER_MGET, count: 100_000, ...byId(1) },
    { name: NUMBER_MGET_32, count: 128_000, ...byId(BATCH) },
    { name: NUMBER_REST, count: 50_000, load: rest, ask: numberAsked },
    { name: NUMBER_MCP, count: 20_000, load: mcpLoad(rest, FOUND), ask: numberCalled },
    { name: NAME_BARE, count: 30_000, ...bare(NAME_TUNED) },
    { name: NAME_BARE_WHOLE, count: 30_000, ...bare(NAME_TUNED_WHOLE) },
    { name: NAME_REST, count: 20_000, load: rest, ask: nameAsked },
    { name: NAME_FIRST, count: 2000, ...bare(NAME_FIRST_WRITTEN, firstIndex) },
    { name: MISS_REST, count: 20_000, load: missed, ask: unknownNumber },
    {
      name: MISS_BUSY,
      count: 40_000,
      load: { ...missed, connections: BUSY_CONNECTIONS },
      ask: unknownNumber,
    },
  ];
}

/** How REST is asked for what it has. */
export function restLoad({ api, key }: Pick<Servers, 'api' | 'key'>): Contender['load'] {
  return {
    method: 'POST',
    origin: api,
    path: '/api/v1/lookup/verify',
    headers: { ...JSON_HEADERS, 'x-api-key': key },
    status: 200,
    expected: '"license_number"',
    connections: CONNECTIONS,
  };
}

/** The same for numbers that no license has. */
export function missedLoad(rest: Contender['load']): Contender['load'] {
  return { ...rest, status: 404, expected: '"did_you_mean"' };
}

/** What tools answer of a license. A miss repeats the number too. */
export const FOUND = '"outcome":"found"';

/** How the same server is asked by MCP, which takes no key. */
export function mcpLoad(rest: Contender['load'], expected: string): Contender['load'] {
  return {
    ...rest,
    path: '/mcp',
    expected,
    headers: { ...JSON_HEADERS, accept: 'application/json, text/event-stream' },
  };
}

/** A request to an MCP server. */
export function mcpRequest(method: string, params: object): object {
  return { jsonrpc: '2.0', id: 1, method, params };
}

function numberCalled({ number }: Asked): object {
  return mcpRequest('tools/call', { name: 'verify_license', arguments: { license_number: number } });
}

/** A license by its number. */
export function numberAsked({ board, number }: Asked): object {
  return { board, license_number: number };
}

/** A person by surname and beginning of the given name. */
export function nameAsked({ board, lastName, firstName }: Asked): object {
  return { board, last_name: lastName, first_name: firstName.slice(0, GIVEN_LETTERS) };
}

/** A number with a digit too much, as it is mistyped. */
export function unknownNumber({ board, number }: Asked): object {
  return { board, license_number: `${number}77` };
}
