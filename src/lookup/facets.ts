import { z } from 'zod';
import { currentBoardName } from '../licenses/boards.ts';
import { addTo } from '../licenses/counts.ts';
import { licenseTypeKeys } from '../licenses/filters.ts';
import { fold } from '../licenses/fold.ts';
import { PRIMARY_STATUSES } from '../licenses/standing.ts';

const KINDS = ['person', 'business'] as const;
const STATUSES = PRIMARY_STATUSES.map((status) => ({ term: { 'keys.status': fold(status) } }));

/** The fields that a list is counted by. Each `size` is larger than the number of values, so counts are exact. */
export const FACETS = {
  board: { terms: { field: 'board', size: 100 } },
  kind: { filters: { filters: KINDS.map((kind) => ({ term: { 'keys.kind': kind } })) } },
  status: { filters: { filters: STATUSES, other_bucket: true } },
  license_type: { terms: { field: 'license_type', size: 2000 } },
};

/** How many licenses of a list have each value. As many remain if the user filters by it. */
export type Counts = Readonly<Record<keyof typeof FACETS, ReadonlyMap<string, number>>>;

/** Stands for a status that is missing or unknown. */
export const OTHER_STATUS = 'OTHER';

/** The counts in OpenSearch's response. Buckets of `filters` have no keys, but are in the order of the clauses. */
export const countedFacets = z.record(
  z.string(),
  z.object({ buckets: z.array(z.object({ key: z.string().optional(), doc_count: z.int() })) }),
);

export function countsOf(facets: z.output<typeof countedFacets>): Counts {
  const counted = (name: keyof Counts, keysOf: (key: string, at: number) => readonly string[]) => {
    const counts = new Map<string, number>();
    for (const [at, { key = '', doc_count: count }] of (facets[name]?.buckets ?? []).entries()) {
      if (count > 0) for (const each of keysOf(key, at)) addTo(counts, each, count);
    }
    return counts;
  };
  // A filter by `Nurse` also finds `Nurse (RN)`.
  const byKey = counted('license_type', licenseTypeKeys);
  const types = counted('license_type', (type) => [type]);
  return {
    board: counted('board', (label) => [currentBoardName(label)]),
    kind: counted('kind', (_, at) => KINDS.slice(at, at + 1)),
    status: counted('status', (_, at) => [PRIMARY_STATUSES[at] ?? OTHER_STATUS]),
    license_type: new Map([...types.keys()].map((type) => [type, byKey.get(fold(type)) ?? 0])),
  };
}
