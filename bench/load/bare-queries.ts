import { numberKey } from '../../src/licenses/fold.ts';
import { boardKey } from '../../src/licenses/license.ts';
import { foldPersonName, givenNamesKey } from '../../src/licenses/names.ts';
import type { Asked } from './asked.ts';

/**
 * What goes to OpenSearch without this service, over the same rows. Fixed: a change of the service's own queries
 * must not change it.
 */
export interface BareQuery {
  /** Behind the index's name. */
  readonly path: string;
  readonly body: (asked: Asked) => object;
}

/** One license by its number: the same term that the service asks for. */
export const NUMBER_TERM: BareQuery = {
  path: '/_search?filter_path=timed_out,_shards.failed,hits.hits._source',
  body: ({ number }) => ({
    size: 10,
    track_total_hits: false,
    query: { constant_score: { filter: { term: { 'keys.number': numberKey(number) } } } },
  }),
};

/** The same with whole hits sent back: quicker for OpenSearch, which copies them, and more to read for the client. */
export const NUMBER_TERM_WHOLE: BareQuery = { ...NUMBER_TERM, path: '/_search' };

/** How many letters of the given name are asked for. */
export const GIVEN_LETTERS = 3;

/**
 * Surname and beginning of the given name, as well as we know how: nothing scored or counted, the order that of
 * the index, and only the records sent back.
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

/** The same with whole hits sent back. */
export const NAME_TUNED_WHOLE: BareQuery = { ...NAME_TUNED, path: '/_search' };

/** The beginning of `BOARD/SURNAME/GIVEN` that finds a person. */
function holderPrefix({ board, fullName, firstName }: Asked): string {
  const given = givenNamesKey(firstName.slice(0, GIVEN_LETTERS));
  return `${boardKey(board)}/${foldPersonName(fullName).surname}/${given}`;
}
