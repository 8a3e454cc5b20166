import { licenseId } from '../../src/licenses/license.ts';
import { ROSTERS } from '../reports/rosters.ts';
import type { Service } from '../service.ts';
import type { Servers } from '../usage.ts';
import type { Asked } from './asked.ts';
import { type BareQuery, GIVEN_LETTERS } from './bare-queries.ts';
import type { Load } from './load.ts';

/** One way of looking licenses up, measured in comparison with others. */
export interface Contender {
  readonly name: string;
  /** The number of licenses per request. */
  readonly itemsPerRequest: number;
  readonly itemsPerRound: number;
  readonly load: Omit<Load, 'asks'>;
  /** The body of a request, or for GET the end of the path. */
  readonly ask: (asked: readonly Asked[]) => object | string;
  /** The servers whose CPU is measured. */
  readonly servers: () => Promise<Servers>;
}

/** The requests of a contender and their size. */
type Asking = Pick<Contender, 'itemsPerRequest' | 'ask'>;

const CONNECTIONS = 64;
/** The maximum number of items in a roster. */
const ROSTER = 1000;
const ROSTER_CLIENTS = 2;

/** One request per license. */
export function single(ask: (asked: Asked) => object | string): Asking {
  return { itemsPerRequest: 1, ask: ([asked]) => (asked === undefined ? {} : ask(asked)) };
}

/** A load of POST requests, 64 at a time. */
function postLoad(origin: string, path: string, headers: Load['headers'] = {}): Contender['load'] {
  return {
    method: 'POST',
    origin,
    path,
    headers: { 'content-type': 'application/json', ...headers },
    status: 200,
    expected: 'license_number',
    connections: CONNECTIONS,
  };
}

/** OpenSearch alone, with one query per license. */
export function bare(
  { openSearch, index, openSearchAlone: servers }: Service,
  name: string,
  itemsPerRound: number,
  query: BareQuery,
): Contender {
  const load = postLoad(openSearch, `/${index}${query.path}`);
  return { name, itemsPerRound, ...single(query.body), load, servers };
}

/** OpenSearch alone, with this many ids per request. */
export function bareIds(
  { openSearch, index, openSearchAlone: servers }: Service,
  name: string,
  itemsPerRound: number,
  { ids, connections, filter = '' }: { ids: number; connections: number; filter?: string },
): Contender {
  return {
    ...{ name, itemsPerRound, itemsPerRequest: ids, servers },
    load: { ...postLoad(openSearch, `/${index}/_mget?realtime=false${filter}`), connections },
    ask: (asked) => ({ ids: asked.map(({ board, number }) => licenseId(board, number)) }),
  };
}

/** REST, with one request per license. */
export function rest(
  { api, key, servers }: Service,
  name: string,
  itemsPerRound: number,
  ask: (asked: Asked) => object,
): Contender {
  const load = postLoad(api, '/api/v1/lookup/verify', { 'x-api-key': key });
  return { name, itemsPerRound, ...single(ask), load, servers };
}

/** REST, with numbers that no license has. */
export function restMissed(service: Service, name: string, itemsPerRound: number): Contender {
  const contender = rest(service, name, itemsPerRound, unknownNumber);
  return { ...contender, load: { ...contender.load, status: 404, expected: '"did_you_mean"' } };
}

/** An API that takes many items per request, with two clients that send rosters of 1,000. */
function rosters(
  load: Contender['load'],
  servers: Contender['servers'],
  name: string,
  item: (asked: Asked, at: number) => object,
): Contender {
  return {
    ...{ name, itemsPerRequest: ROSTER, itemsPerRound: 60 * ROSTER, servers },
    load: { ...load, connections: ROSTER_CLIENTS },
    ask: (asked) => ({ items: asked.map(item) }),
  };
}

/** Half numbers, half names. Of 100 items, five are not found and one is invalid. */
function mixedItem(asked: Asked, at: number): object {
  const place = at % 100;
  if (place === 99) return { board: asked.board };
  if (place >= 94) return unknownNumber(asked);
  return place % 2 === 0 ? numberAsked(asked) : nameAsked(asked);
}

/** Rosters of numbers, of names, and of both. */
export function rosterContenders(service: Service): Contender[] {
  const { load } = rest(service, '', 0, numberAsked);
  const batch = { ...load, path: '/api/v1/lookup/batch', expected: '"outcome":"found"' };
  return [
    rosters(batch, service.servers, ROSTERS.numbers, numberAsked),
    rosters(batch, service.servers, ROSTERS.names, nameAsked),
    rosters(batch, service.servers, ROSTERS.mixed, mixedItem),
  ];
}

/** The load for the MCP server, which needs no key. */
export function mcpLoad(api: string, headers: Load['headers'] = {}): Contender['load'] {
  const accept = 'application/json, text/event-stream';
  // The number alone would not prove a match, because the result of a miss repeats it.
  return { ...postLoad(api, '/mcp', { accept, ...headers }), expected: '"outcome":"found"' };
}

export function mcpRequest(method: string, params: object): object {
  return { jsonrpc: '2.0', id: 1, method, params };
}

export function toolCall(name: string, parameters: object): object {
  return mcpRequest('tools/call', { name, arguments: parameters });
}

/** Asks for a license by its number. */
export function numberAsked({ board, number }: Asked): object {
  return { board, license_number: number };
}

/** Asks for a person by surname and beginning of the given name. */
export function nameAsked({ board, lastName, firstName }: Asked): object {
  return { board, last_name: lastName, first_name: firstName.slice(0, GIVEN_LETTERS) };
}

/** Asks for a number with extra digits, which no license has. */
export function unknownNumber({ board, number }: Asked): object {
  return { board, license_number: `${number}77` };
}
