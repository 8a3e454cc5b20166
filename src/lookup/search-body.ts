/** A part of an OpenSearch query. */
export type Clause =
  | { term: Record<string, string> }
  | { ids: { values: string[] } }
  | { terms: { 'keys.number': readonly string[] } }
  | { prefix: Record<string, string> }
  | { regexp: Record<string, string> }
  | {
      fuzzy: Record<
        string,
        { value: string; fuzziness: 1; prefix_length: number; rewrite: 'constant_score' }
      >;
    }
  | { constant_score: { filter: Clause; boost?: number } }
  | BoolClause;

type BoolClause = { bool: { filter?: Clause[]; should?: Clause[] } };

type Sort = (Record<string, 'asc' | 'desc'> | '_doc')[];

/** The body of one OpenSearch `_search` for licenses. */
export interface SearchBody {
  size: number;
  track_total_hits: false;
  query: BoolClause;
  sort: Sort;
}

/** A query that shares no search with others. */
export interface OtherQuery {
  readonly by: 'other';
  /** Without a size, it returns all matches of a name that may be returned, and one more. */
  readonly body: Omit<SearchBody, 'size'> & { readonly size?: number };
}

/** Matches in the order of their names and numbers. */
export const BY_NAME: Sort = [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }];

/**
 * A search for licenses that fit every clause of `filter`.
 *
 * @param preferred those that fit one of these clauses have a better score
 */
export function matching(filter: Clause[], sort: Sort, preferred?: Clause[]): Omit<SearchBody, 'size'> {
  const query = { bool: { filter, ...(preferred && { should: preferred }) } };
  return { track_total_hits: false, query, sort };
}

/** The same with the most licenses that it returns. */
export function searchBody(size: number, filter: Clause[], sort: Sort, preferred?: Clause[]): SearchBody {
  return { size, ...matching(filter, sort, preferred) };
}
