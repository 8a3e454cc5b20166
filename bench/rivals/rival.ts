import { boardKey } from '../../src/licenses/license-document.ts';
import { foldPersonName, givenNamesKey } from '../../src/licenses/person-name.ts';
import type { Asked } from '../lookups/asked.ts';
import { GIVEN_LETTERS } from '../lookups/bare-queries.ts';
import { nameAsked, numberAsked } from '../lookups/contenders.ts';
import type { Contender } from '../rosters/measure.ts';

/** How many are asked in a round. */
const COUNTS = { number: 20_000, name: 5000 } as const;
export const CONNECTIONS = 64;
/** Found in the environment of all processes of one rival. */
export const MARK = 'BENCH_RIVAL';

/** What lookups go by. */
export type Kind = keyof typeof COUNTS;

/** A way of answering lookups over HTTP, with a key. */
export interface Rival {
  readonly name: string;
  readonly loadSeconds: number;
  /** On disk. */
  readonly bytes: number;
  readonly contenders: Readonly<Record<Kind, Contender>>;
  /** The files that its engine reads. */
  readonly dataFiles: () => Promise<string[]>;
}

/** The beginning of `BOARD/SURNAME/GIVEN` that finds a person. */
export function holderPrefix({ board, fullName, firstName }: Asked): string {
  return `${boardKey(board)}/${foldPersonName(fullName).surname}/${givenNamesKey(firstName.slice(0, GIVEN_LETTERS))}`;
}

/** How an API that is asked as REST is measured. */
export function postContenders(
  load: Omit<Contender['load'], 'path'>,
  path: string,
  servers: Contender['servers'],
): Rival['contenders'] {
  const contender = (kind: Kind, ask: (asked: Asked) => object): Contender => ({
    name: kind,
    itemsPerRequest: 1,
    requestsPerRound: COUNTS[kind],
    load: { ...load, path },
    ask: ([asked]) => (asked === undefined ? {} : ask(asked)),
    servers,
  });
  return { number: contender('number', numberAsked), name: contender('name', nameAsked) };
}

/** How an API on this port is asked with a key. */
export function postLoad(port: number, key: string): Omit<Contender['load'], 'path'> {
  return {
    method: 'POST',
    origin: `http://127.0.0.1:${port}`,
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    status: 200,
    expected: 'license_number',
    connections: CONNECTIONS,
  };
}
