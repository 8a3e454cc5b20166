import { boardKey } from '../../src/licenses/license-document.ts';
import { foldPersonName, givenNamesKey } from '../../src/licenses/person-name.ts';
import type { Asked } from '../lookups/asked.ts';
import { GIVEN_LETTERS } from '../lookups/bare-queries.ts';
import type { Load } from '../lookups/load.ts';

/** How many are asked in a round. */
export const COUNTS = { number: 20_000, name: 5000 } as const;
export const CONNECTIONS = 64;
/** Found in the environment of all processes of one rival. */
export const MARK = 'BENCH_RIVAL';

/** What lookups go by. */
export type Kind = keyof typeof COUNTS;

/** A way of answering lookups over HTTP, with a key. */
export interface Rival {
  readonly name: string;
  readonly loadSeconds: number;
  readonly bytes: number;
  readonly counts: Readonly<Record<Kind, number>>;
  readonly load: Omit<Load, 'asks' | 'path'>;
  readonly path: Readonly<Record<Kind, string>>;
  readonly ask: Readonly<Record<Kind, (asked: Asked) => string>>;
  /** The processes that answer. */
  processes(): Promise<number[]>;
}

/** The beginning of `BOARD/SURNAME/GIVEN` that finds a person. */
export function holderPrefix({ board, fullName, firstName }: Asked): string {
  return `${boardKey(board)}/${foldPersonName(fullName).surname}/${givenNamesKey(firstName.slice(0, GIVEN_LETTERS))}`;
}

/** How REST is asked. */
export const REST_ASKS: Rival['ask'] = {
  number: ({ board, number }) => JSON.stringify({ board, license_number: number }),
  name: ({ board, lastName, firstName }) =>
    JSON.stringify({ board, last_name: lastName, first_name: firstName.slice(0, GIVEN_LETTERS) }),
};

/** How an API on this port is asked with a key. */
export function postLoad(port: number, key: string): Rival['load'] {
  return {
    method: 'POST',
    origin: `http://127.0.0.1:${port}`,
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    status: 200,
    expected: 'license_number',
    connections: CONNECTIONS,
  };
}
