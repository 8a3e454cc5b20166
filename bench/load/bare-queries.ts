import { numberKey } from '../../src/licenses/fold.ts';
import { boardKey } from '../../src/licenses/license.ts';
import { foldPersonName, givenNamesKey } from '../../src/licenses/names.ts';
import type { Asked } from './asked.ts';

/**
 * A query sent directly to OpenSearch over the same rows, as a baseline. It is fixed: a change of the service's own
 * queries must not change it.
 */
export interface BareQuery {
  /** The path after the index name. */
  readonly path: string;
  readonly body: (asked: Asked) => object;
}

/** One license by its number, with the same term query as the service. */
export const NUMBER_TERM: BareQuery = {
  path: '/_search?filter_path=timed_out,_shards.failed,hits.hits._source',
  body: ({ number }) => ({
    size: 10,
    track_total_hits: false,
    query: { constant_score: { filter: { term: { 'keys.number': numberKey(number) } } } },
  }),
};

/** The same query, returning whole hits. OpenSearch copies them, which is faster, but the client has more to read. */
export const NUMBER_TERM_WHOLE: BareQuery = { ...NUMBER_TERM, path: '/_search' };

/** The number of letters of the given name in a query. */
export const GIVEN_LETTERS = 3;

/**
 * Surname and beginning of the given name, in the fastest query we know: no scores, no counts, in index order, and
 * returning only the records.
 */
export const NAME_TUNED: BareQuery = {
  path: '/_search?filter_path=timed_out,_shards.failed,hits.hits._source',
  body: (asked) => ({
    size: 101,
    track_total_hits: false,
    query: { constant_score: { filter: { prefix: { 'keys.holder': holderPrefix(asked) } } } },
    sort: ['_doc'],
  }),
};

/** The same query, returning whole hits. */
export const NAME_TUNED_WHOLE: BareQuery = { ...NAME_TUNED, path: '/_search' };

/** The prefix of `BOARD/SURNAME/GIVEN` that finds a person. */
function holderPrefix({ board, fullName, firstName }: Asked): string {
  const given = givenNamesKey(firstName.slice(0, GIVEN_LETTERS));
  return `${boardKey(board)}/${foldPersonName(fullName).surname}/${given}`;
}
