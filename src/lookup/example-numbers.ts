import { LRUCache } from 'lru-cache';
import { BOARDS } from '../licenses/boards.ts';
import type { LivePublication } from '../publications/live.ts';
import { searchBody } from './queries.ts';
import type { PublicationSearch } from './search.ts';

/** The number of one license of each type, by the board's name and the type. */
type ExampleNumbers = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Reads the example numbers of a publication once and caches them. If OpenSearch does not answer, there are none this
 * time.
 */
export function exampleNumbers(searchOf: (index: string) => PublicationSearch) {
  const examples = new LRUCache<string, ExampleNumbers, LivePublication>({
    max: 1,
    fetchMethod: (index, _stale, { context }) => readExamples(searchOf(index), context),
  });
  return async (live: LivePublication): Promise<ExampleNumbers> =>
    (await examples.fetch(live.index, { context: live }).catch(() => undefined)) ?? new Map();
}

async function readExamples(publication: PublicationSearch, { licenseTypes }: LivePublication) {
  const boards = BOARDS.map(async ({ name, aliases }) => {
    const numbers = (licenseTypes.get(name) ?? []).map(async (type) => {
      const filter = [{ terms: { board: [name, ...aliases] } }, { term: { license_type: type } }];
      const { licenses } = await publication.search({ by: 'other', body: searchBody(1, filter, ['_doc']) });
      return licenses.map(({ license_number: number }) => [type, number] as const);
    });
    return [name, new Map((await Promise.all(numbers)).flat())] as const;
  });
  return new Map(await Promise.all(boards));
}
