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

/** One way of asking, measured beside the others. */
export interface Contender {
  readonly name: string;
  /** How many are asked in a round. */
  readonly count: number;
  readonly load: Omit<Load, 'asks'>;
  readonly ask: (asked: Asked) => object;
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
  const rest = restLoad({ api, key });
  const missed = missedLoad(rest);
  return [
    { name: NUMBER_BARE, count: 40_000, ...bare(NUMBER_TERM) },
    { name: NUMBER_BARE_WHOLE, count: 40_000, ...bare(NUMBER_TERM_WHOLE) },
    { name: NUMBER_REST, count: 40_000, load: rest, ask: numberAsked },
    { name: NUMBER_MCP, count: 12_000, load: mcpLoad(rest, FOUND), ask: numberCalled },
    { name: NAME_BARE, count: 10_000, ...bare(NAME_TUNED) },
    { name: NAME_BARE_WHOLE, count: 10_000, ...bare(NAME_TUNED_WHOLE) },
    { name: NAME_REST, count: 10_000, load: rest, ask: nameAsked },
    { name: NAME_FIRST, count: 3000, ...bare(NAME_FIRST_WRITTEN, firstIndex) },
    { name: MISS_REST, count: 6000, load: missed, ask: unknownNumber },
    {
      name: MISS_BUSY,
      count: 12_000,
      load: { ...missed, connections: BUSY_CONNECTIONS },
      ask: unknownNumber,
    },
  ];
}

export const NUMBER_BARE = 'number, bare _search';
export const NUMBER_BARE_WHOLE = 'number, bare _search, whole hits';
export const NUMBER_REST = 'number, REST';
export const NUMBER_MCP = 'number, MCP';
export const NAME_BARE = 'name, bare, tuned';
export const NAME_BARE_WHOLE = 'name, bare, tuned, whole hits';
export const NAME_REST = 'name, REST';
export const NAME_FIRST = 'name, bare, as first written';
export const MISS_REST = 'number missed, REST';
export const MISS_BUSY = 'number missed, REST, too busy for suggestions';

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
