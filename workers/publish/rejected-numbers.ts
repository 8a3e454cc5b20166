import { numberKey } from '../../src/licenses/number.ts';
import type { PublicationMetadata } from '../../src/publications/metadata.ts';
import { readRejectedRows } from '../../src/publications/rejected-rows.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Digests } from './digests.ts';

/** Tells whether a license number stands in a row that could not be read. */
export interface NumbersOfRejectedRows {
  /** In a row of the files that are being published. */
  now(number: string): boolean;
  /** In a row that the live publication rejected and kept. */
  before(number: string): Promise<boolean>;
}

export function numbersRejectedBy(
  store: Store,
  live: PublicationMetadata,
  { rejectedNumbers }: Pick<Digests, 'rejectedNumbers'>,
): NumbersOfRejectedRows {
  let before: Promise<ReadonlySet<string>> | undefined;
  return {
    now: (number) => rejectedNumbers.has(numberKey(number)),
    before: async (number) => {
      if ((live.counts?.rejected ?? 0) === 0) return false;
      before ??= numbersOfStoredRows(store, live.publication);
      return (await before).has(numberKey(number));
    },
  };
}

async function numbersOfStoredRows(store: Store, publication: string): Promise<ReadonlySet<string>> {
  const numbers = new Set<string>();
  for await (const page of readRejectedRows(store, publication)) {
    for (const { raw } of page) for (const number of numbersInRow(raw)) numbers.add(number);
  }
  return numbers;
}

const MAX_NUMBER_LENGTH = 40;

/** Two rows of the State have no more. In a longer row, numbers behind it are not looked for. */
const MAX_CELLS = 400;

/** The keys of what may be a license number in a row that may not be well formed. */
export function numbersInRow(raw: string): string[] {
  return raw
    .split(/[",\r\n]+/, MAX_CELLS)
    .filter((cell) => cell.length <= MAX_NUMBER_LENGTH && /\d/.test(cell))
    .map(numberKey);
}
