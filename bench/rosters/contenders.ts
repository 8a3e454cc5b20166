import { licenseId } from '../../src/licenses/license-document.ts';
import type { Asked } from '../lookups/asked.ts';
import { NAME_TUNED, NUMBER_TERM } from '../lookups/bare-queries.ts';
import { nameAsked, numberAsked, unknownNumber } from '../lookups/contenders.ts';
import type { Contender, Servers } from './measure.ts';
import {
  MIXED_ROSTER,
  NAME_BARE,
  NAME_POSTGRES,
  NAME_POSTGRES_BATCH,
  NAME_ROSTER,
  NAME_SINGLE,
  NUMBER_BARE,
  NUMBER_BARE_MGET,
  NUMBER_POSTGRES,
  NUMBER_POSTGRES_BATCH,
  NUMBER_ROSTER,
  NUMBER_SINGLE,
} from './names.ts';

const CONNECTIONS = 64;
const CLIENTS = 2;
const ROSTER = 1000;
const MGET = 250;

const JSON_HEADERS = { 'content-type': 'application/json' };

/** Where this service and OpenSearch are. */
export interface Addresses {
  readonly openSearch: string;
  /** The live physical index. */
  readonly index: string;
  readonly api: string;
  readonly key: string;
}

type ServersOf = () => Promise<Servers>;

/** OpenSearch alone, with nothing before it. */
export function bareContenders({ openSearch, index }: Addresses, servers: ServersOf): Contender[] {
  const load = {
    method: 'POST' as const,
    origin: openSearch,
    headers: JSON_HEADERS,
    status: 200,
    expected: '"license_number"',
  };
  const single = (name: string, requestsPerRound: number, query: typeof NUMBER_TERM): Contender => ({
    name,
    itemsPerRequest: 1,
    requestsPerRound,
    load: { ...load, path: `/${index}${query.path}`, connections: CONNECTIONS },
    ask: ([asked]) => (asked === undefined ? {} : query.body(asked)),
    servers,
  });
  return [
    single(NUMBER_BARE, 20_000, NUMBER_TERM),
    {
      name: NUMBER_BARE_MGET,
      itemsPerRequest: MGET,
      requestsPerRound: 240,
      load: {
        ...load,
        path: `/${index}/_mget?realtime=false&filter_path=docs.found,docs._source`,
        connections: CLIENTS,
      },
      ask: (asked) => ({ ids: asked.map(({ board, number }) => licenseId(board, number)) }),
      servers,
    },
    single(NAME_BARE, 10_000, NAME_TUNED),
  ];
}

/** This service: single lookups, and rosters. */
export function serviceContenders({ api, key }: Addresses, servers: ServersOf): Contender[] {
  const load = {
    method: 'POST' as const,
    origin: api,
    headers: { ...JSON_HEADERS, 'x-api-key': key },
    status: 200,
    expected: '"license_number"',
  };
  const single = (name: string, requestsPerRound: number, ask: (asked: Asked) => object): Contender => ({
    name,
    itemsPerRequest: 1,
    requestsPerRound,
    load: { ...load, path: '/api/v1/lookup/verify', connections: CONNECTIONS },
    ask: ([asked]) => (asked === undefined ? {} : ask(asked)),
    servers,
  });
  const rosters = (name: string, item: (asked: Asked, at: number) => object): Contender => ({
    name,
    itemsPerRequest: ROSTER,
    requestsPerRound: 60,
    load: { ...load, path: '/api/v1/lookup/batch', expected: '"outcome":"found"', connections: CLIENTS },
    ask: (asked) => ({ items: asked.map(item) }),
    servers,
  });
  return [
    single(NUMBER_SINGLE, 20_000, numberAsked),
    rosters(NUMBER_ROSTER, numberAsked),
    single(NAME_SINGLE, 10_000, nameAsked),
    rosters(NAME_ROSTER, nameAsked),
    rosters(MIXED_ROSTER, mixedItem),
  ];
}

/** Half numbers, half names; of 100 items five are missed and one is invalid. */
function mixedItem(asked: Asked, at: number): object {
  const place = at % 100;
  if (place === 99) return { board: asked.board };
  if (place >= 94) return unknownNumber(asked);
  return place % 2 === 0 ? numberAsked(asked) : nameAsked(asked);
}

/** A thin API over PostgreSQL: single requests, and batches. */
export function postgresContenders(single: Contender['load'], servers: ServersOf): Contender[] {
  const batchLoad = { ...single, path: '/batch', expected: 'license_number', connections: CLIENTS };
  const each = (name: string, requestsPerRound: number, ask: (asked: Asked) => object): Contender => ({
    name,
    itemsPerRequest: 1,
    requestsPerRound,
    load: single,
    ask: ([asked]) => (asked === undefined ? {} : ask(asked)),
    servers,
  });
  const batches = (name: string, ask: (asked: Asked) => object): Contender => ({
    name,
    itemsPerRequest: ROSTER,
    requestsPerRound: 60,
    load: batchLoad,
    ask: (asked) => ({ items: asked.map(ask) }),
    servers,
  });
  return [
    each(NUMBER_POSTGRES, 20_000, numberAsked),
    batches(NUMBER_POSTGRES_BATCH, numberAsked),
    each(NAME_POSTGRES, 10_000, nameAsked),
    batches(NAME_POSTGRES_BATCH, nameAsked),
  ];
}
