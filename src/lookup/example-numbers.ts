import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { BOARDS } from '../licenses/boards.ts';
import type { LivePublication } from '../publications/live.ts';

/** The number of one license of each type, by the board's name and the type. */
type ExampleNumbers = ReadonlyMap<string, ReadonlyMap<string, string>>;

const response = z.object({
  responses: z.array(
    z.object({
      hits: z.object({ hits: z.array(z.object({ _source: z.object({ license_number: z.string() }) })) }),
    }),
  ),
});

/** Reads the example numbers of a publication, once. Where OpenSearch does not answer, there are none this time. */
export function exampleNumbers(client: Client): (live: LivePublication) => Promise<ExampleNumbers> {
  let latest: { readonly index: string; readonly examples: ExampleNumbers } | undefined;
  return async (live) => {
    const { index } = live;
    if (latest?.index === index) return latest.examples;
    try {
      latest = { index, examples: await readExamples(client, live) };
      return latest.examples;
    } catch {
      return new Map();
    }
  };
}

async function readExamples(
  client: Client,
  { index, licenseTypes }: LivePublication,
): Promise<ExampleNumbers> {
  const types = BOARDS.flatMap(({ name, aliases }) =>
    (licenseTypes.get(name) ?? []).map((type) => ({ name, type, labels: [name, ...aliases] })),
  );
  const body = types.flatMap(({ type, labels }) => {
    const filter = [{ terms: { board: labels } }, { term: { license_type: type } }];
    const first = { size: 1, terminate_after: 1, track_total_hits: false, _source: ['license_number'] };
    return [{ allow_partial_search_results: false }, { ...first, query: { bool: { filter } } }];
  });
  const { responses } = response.parse((await client.msearch({ index, body })).body);
  const examples = new Map<string, Map<string, string>>(BOARDS.map(({ name }) => [name, new Map()]));
  for (const [at, { name, type }] of types.entries()) {
    const number = responses[at]?.hits.hits[0]?._source.license_number;
    if (number !== undefined) examples.get(name)?.set(type, number);
  }
  return examples;
}
