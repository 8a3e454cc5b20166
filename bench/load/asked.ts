import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import type { HolderKind } from '../../src/licenses/license.ts';

/** A license to look up. */
export interface Asked {
  readonly board: string;
  readonly number: string;
  readonly fullName: string;
  /** The surname of a person, as the State writes it. */
  readonly lastName: string;
  readonly firstName: string;
}

const page = z.object({
  hits: z.object({
    hits: z.array(
      z.object({
        _source: z.object({ board: z.string(), license_number: z.string(), full_name: z.string() }),
      }),
    ),
  }),
});

/** The most licenses that one search returns. */
const PAGE = 10_000;

/** Draws random licenses from the whole index, without duplicates. Draws fewer than `count` if there are no more. */
export async function drawLicenses(
  client: Client,
  index: string,
  { kind, count }: { readonly kind: HolderKind; readonly count: number },
): Promise<Asked[]> {
  const drawn = new Map<string, Asked>();
  for (let seed = 1; drawn.size < count && seed < (3 * count) / PAGE + 3; seed += 1) {
    const { body } = await client.search({
      index,
      body: {
        size: PAGE,
        query: {
          function_score: {
            query: { term: { 'keys.kind': { value: kind } } },
            functions: [{ random_score: { seed, field: '_seq_no' } }],
          },
        },
        _source: ['board', 'license_number', 'full_name'],
      },
    });
    for (const { _source: license } of page.parse(body).hits.hits) {
      const [lastName = '', firstName = ''] = license.full_name.split(', ');
      const { board, license_number: number, full_name: fullName } = license;
      drawn.set(`${board}/${number}`, { board, number, fullName, lastName, firstName });
    }
  }
  return [...drawn.values()].slice(0, count);
}
