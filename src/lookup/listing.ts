import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { type Board, currentBoardName } from '../licenses/boards.ts';
import { addTo } from '../licenses/counts.ts';
import { FILTER_NAMES, type FilterName, type Filters, licenseTypeKeys } from '../licenses/filters.ts';
import { fold, MAX_FOLDED_CHARACTERS } from '../licenses/fold.ts';
import { type StoredLicense, storedLicense } from '../licenses/license.ts';
import {
  type LookupOutcome,
  type LookupRequest,
  MAX_MATCHES,
  type Miss,
  type NumberRequest,
} from '../licenses/lookup.ts';
import { type PersonParts, searchedWords, type TypedPerson } from '../licenses/names.ts';
import { PRIMARY_STATUSES } from '../licenses/status.ts';
import { type BatcherOptions, batcher } from '../storage/batcher.ts';
import { completeness, requireComplete, search } from '../storage/checked-search.ts';
import { businessQuery, filterClauses, personQuery } from './name-queries.ts';
import type { Clause } from './number-queries.ts';
import { measured, type PublicationSearch } from './search.ts';
import { lookUp } from './steps.ts';

/** How many licenses a page lists. */
export const PAGE_SIZE = 25;

/** The pages of the first matches of a name, as many as a lookup returns. */
export const MAX_PAGES = MAX_MATCHES / PAGE_SIZE;

/** What a person searches for: a number, or names with the filters that narrow them. */
export interface ListingRequest {
  readonly board: Board | undefined;
  /** Where it finds a license, nothing else is searched. */
  readonly number?: NumberRequest | undefined;
  readonly person?: TypedPerson | undefined;
  readonly business?: string | undefined;
  readonly filters: Filters;
  /** From 1 to `MAX_PAGES`. */
  readonly page: number;
}

/** What a request found. A part that was not asked for, or not searched, is `undefined`. */
export interface Listing {
  readonly number?: LookupOutcome | undefined;
  readonly persons?: LicenseList | undefined;
  readonly businesses?: LicenseList | undefined;
}

/** A value that narrows a list, and how many licenses of the list have it. */
export interface ValueCount {
  readonly value: string;
  readonly count: number;
}

/** What licenses are counted by. */
export const COUNTED_BY = ['board', 'status', 'license_type'] as const;

export type Counts = Readonly<Record<(typeof COUNTED_BY)[number], readonly ValueCount[]>>;

/** A name in other parts than those searched, and how many licenses it has. */
export interface OtherReading extends PersonParts {
  readonly count: number;
}

/** The licenses of persons, or of businesses, that a name finds. */
export interface LicenseList {
  /** Exact names first, then active licenses, then by name and number. */
  readonly licenses: readonly StoredLicense[];
  /** How many there are on all pages, and after them. */
  readonly total: number;
  /** By board, primary status and license type, the most first: how many each filter would leave. */
  readonly counts: Counts;
  /** Of a person's name that was typed into one field. */
  readonly others: readonly OtherReading[];
  /** Where there are none: what is near. */
  readonly miss?: Miss;
  /** Where there are none: how many there are without the board, without one of the filters, or without all. */
  readonly without?: ReadonlyMap<FilterName | 'board' | 'all', number>;
}

interface CountsBody {
  size: 0;
  track_total_hits: false;
  query: Clause;
  aggs: { each: { filters: { filters: Clause[] } } };
}

type Aggregation = { terms: { field: string; size: number } } | { filters: { filters: Clause[] } };

interface ListBody {
  size: number;
  from: number;
  track_total_hits: true;
  query: { bool: { filter: Clause[]; should: Clause[] } };
  sort: Record<string, 'asc' | 'desc'>[];
  aggs: Record<(typeof COUNTED_BY)[number], Aggregation>;
}

const listResponse = z.object({
  hits: z.object({
    total: z.object({ value: z.int() }).optional(),
    hits: z.array(z.object({ _source: storedLicense, _score: z.number().nullable() })),
  }),
  aggregations: z.record(
    z.string(),
    z.object({ buckets: z.array(z.object({ key: z.string().default(''), doc_count: z.int() })) }),
  ),
});

type ListResponse = z.output<typeof listResponse>;

interface ListQuery {
  readonly index: string;
  readonly body: ListBody | CountsBody;
}

/** Runs the searches of lists. */
export type ListSearch = (query: ListQuery) => Promise<ListResponse>;

/** Counting reads every match, so fewer run at a time than of the searches that lookups make. */
const LIMITS: BatcherOptions = { maxBatchSize: 8, concurrency: 2 };

const multiResponse = z.object({
  responses: z.array(
    z.union([
      listResponse.extend({ ...completeness.shape, status: z.literal(200) }),
      z.object({ status: z.int() }),
    ]),
  ),
});

/** The searches of lists. They never share a request with those of lookups, which would wait for them. */
export function listSearch(client: Client): ListSearch {
  async function request(queries: readonly ListQuery[]): Promise<(ListResponse | Promise<ListResponse>)[]> {
    const alone = (query: ListQuery) => search(client, listResponse, query);
    const [only, another] = queries;
    if (only !== undefined && another === undefined) return [alone(only)];
    const { body } = await client.msearch({
      body: queries.flatMap((query) => [
        { index: query.index, allow_partial_search_results: false },
        query.body,
      ]),
    });
    const { responses } = multiResponse.parse(body);
    return queries.map((query, at) => {
      const response = responses[at];
      // Sent alone, the query fails with an error that says why.
      if (response === undefined || !('hits' in response)) return alone(query);
      requireComplete(response);
      return response;
    });
  }
  return batcher(measured('lists', request), LIMITS);
}

/** What answers a request: one publication. */
export interface ListedPublication {
  readonly index: string;
  readonly lists: ListSearch;
  readonly publication: PublicationSearch;
  /** Whether to look for what may have been meant when nothing is found, which costs more. */
  readonly suggest: boolean;
}

/** Finds a license by its number, else lists the licenses of persons and of businesses with the name. */
export async function listLicenses(request: ListingRequest, from: ListedPublication): Promise<Listing> {
  const number = request.number && (await lookUp(request.number, from.publication, from.suggest));
  if (number !== undefined && number.outcome !== 'none') return { number };
  const persons = request.person && (await listPersons(request, request.person, from));
  // Where persons have the name, no businesses with similar names are looked for.
  const suggest = from.suggest && !(persons !== undefined && persons.total > 0);
  const businesses =
    request.business === undefined
      ? undefined
      : await listBusinesses(request, request.business, { ...from, suggest });
  return { number, persons, businesses };
}

const NONE: LicenseList = {
  licenses: [],
  total: 0,
  counts: { board: [], status: [], license_type: [] },
  others: [],
};

/** A name of persons or of businesses, as clauses that find it. */
interface NameClauses {
  /** Of the names at one board, or at all. */
  readonly of: (board: Board | undefined) => Clause;
  /** Those that fit this one come first, then those that fit the next. */
  readonly preferred: readonly Clause[];
}

async function listPersons(
  request: ListingRequest,
  { readings, others }: TypedPerson,
  from: ListedPublication,
): Promise<LicenseList | undefined> {
  const [likeliest] = readings;
  if (likeliest === undefined) return undefined;
  const { board, filters } = request;
  const miss = { by: 'person', board, filters, ...likeliest } as const;
  if (!isSearchable(request, readings)) return missed(NONE, miss, [], request, from);
  const name: NameClauses = {
    of: (where) => anyOf(personNames(where, readings).map((each) => ({ prefix: { 'keys.holder': each } }))),
    // Half of a hyphenated surname is not the whole of it.
    preferred: [anyOf(personNames(board, readings).map(exactPerson))],
  };
  const searchable = others.filter((other) => isSearchable(request, [other]));
  const [list, counts] = await Promise.all([
    listOf(name, request, from),
    countEach(
      searchable.map((other) => [
        anyOf(personNames(board, [other]).map((each) => ({ prefix: { 'keys.holder': each } }))),
        ...filterClauses(filters),
      ]),
      from,
    ),
  ]);
  const counted = searchable.map((other, at) => ({ ...other, count: counts[at] ?? 0 }));
  const surnames = readings.map(({ lastName }) => lastName);
  // Without the middle names, what is listed is found again.
  const isNew = ({ lastName, count }: OtherReading) => count > (surnames.includes(lastName) ? list.total : 0);
  const withOthers = { ...list, others: counted.filter(isNew) };
  return list.total > 0 ? withOthers : missed(withOthers, miss, [name], request, from);
}

/** `BOARD/SURNAME/GIVEN`, or its beginning, of each reading at each board. */
function personNames(board: Board | undefined, readings: readonly PersonParts[]): string[] {
  return readings.flatMap(
    ({ lastName, firstName }) => personQuery(board, lastName, firstName, {})?.names ?? [],
  );
}

function exactPerson(name: string): Clause {
  return name.endsWith('/') ? { prefix: { 'keys.name': name } } : { term: { 'keys.name': name } };
}

async function listBusinesses(
  request: ListingRequest,
  typed: string,
  from: ListedPublication,
): Promise<LicenseList> {
  const { board, filters } = request;
  const miss = { by: 'business', board, filters, name: typed } as const;
  if (!isSearchable(request, [{ lastName: typed }])) return missed(NONE, miss, [], request, from);
  const names = (where: Board | undefined) => businessQuery(where, typed, {})?.names ?? [];
  const words = (where: Board | undefined) =>
    searchedWords(typed).map((word) => `${where?.code ?? ''}/${word}`);
  const preferred = [
    anyOf(names(board).map((name) => ({ term: { 'keys.business': name } }))),
    allOf(words(board).map((word) => ({ term: { 'keys.words': word } }))),
  ];
  const byBeginning: NameClauses = {
    of: (where) => anyOf(names(where).map((name) => ({ prefix: { 'keys.business': name } }))),
    preferred,
  };
  const byWords: NameClauses = {
    of: (where) =>
      words(where).length === 0
        ? NO_LICENSE
        : allOf(words(where).map((word) => ({ prefix: { 'keys.words': word } }))),
    preferred,
  };
  const beginning = await listOf(byBeginning, request, from);
  if (beginning.total > 0) return beginning;
  const list = await listOf(byWords, request, from);
  return list.total > 0 ? list : missed(list, miss, [byBeginning, byWords], request, from);
}

/** Whether no text is too long once it is folded: a license has none so long. */
function isSearchable({ filters }: ListingRequest, readings: readonly PersonParts[]): boolean {
  const texts = [
    ...readings.flatMap(({ lastName, firstName = '' }) => [lastName, firstName]),
    ...FILTER_NAMES.map((name) => filters[name] ?? ''),
  ];
  return texts.every((text) => fold(text).length <= MAX_FOLDED_CHARACTERS);
}

/** Adds what is near, and what each filter excludes. */
async function missed(
  list: LicenseList,
  request: Exclude<LookupRequest, NumberRequest>,
  names: readonly NameClauses[],
  asked: ListingRequest,
  from: ListedPublication,
): Promise<LicenseList> {
  const none: Miss = { outcome: 'none', reason: 'unknown', request, didYouMean: [] };
  const [outcome, without] = await Promise.all([
    from.suggest ? lookUp(request, from.publication, true) : none,
    countWithout(names, asked, from),
  ]);
  return { ...list, without, miss: outcome.outcome === 'none' ? outcome : none };
}

/**
 * How many licenses the search would list without the board, without one of the filters, or without all of them.
 *
 * @param names the ways in which the name is searched; a later one where the earlier ones find nothing
 */
async function countWithout(
  names: readonly NameClauses[],
  { board, filters }: ListingRequest,
  from: ListedPublication,
): Promise<NonNullable<LicenseList['without']>> {
  const set = FILTER_NAMES.filter((name) => filters[name] !== undefined);
  const each = [...(board === undefined ? [] : (['board'] as const)), ...set];
  const removed = each.length < 2 ? each : [...each, 'all' as const];
  const filtersWithout = (name: (typeof removed)[number]) =>
    name === 'all' ? {} : name === 'board' ? filters : { ...filters, [name]: undefined };
  const sets = removed.flatMap((without) =>
    names.map((name) => [
      name.of(without === 'board' || without === 'all' ? undefined : board),
      ...filterClauses(filtersWithout(without)),
    ]),
  );
  const counts = await countEach(sets, from);
  return new Map(
    removed.map((without, at) => {
      const first = at * names.length;
      return [without, counts.slice(first, first + names.length).find((count) => count > 0) ?? 0];
    }),
  );
}

/** How many licenses fit all clauses of each set, in one search. */
async function countEach(
  sets: readonly Clause[][],
  { index, lists }: ListedPublication,
): Promise<readonly number[]> {
  if (sets.length === 0) return [];
  const each = sets.map(allOf);
  const { aggregations } = await lists({
    index,
    body: {
      ...{ size: 0, track_total_hits: false, query: anyOf(each) },
      aggs: { each: { filters: { filters: each } } },
    },
  });
  return aggregations.each?.buckets.map(({ doc_count: count }) => count) ?? [];
}

/** More than there are of each. Counts are exact only where all of them are returned. */
const MAX_BOARDS = 100;
const MAX_TYPES = 2000;

async function listOf(
  { of, preferred }: NameClauses,
  { board, filters, page }: ListingRequest,
  { index, lists }: ListedPublication,
): Promise<LicenseList> {
  const active: Clause = { term: { 'keys.status': fold('Active') } };
  const ranks = [...preferred, active].toReversed();
  const body: ListBody = {
    size: PAGE_SIZE,
    from: (page - 1) * PAGE_SIZE,
    track_total_hits: true,
    query: {
      bool: {
        filter: [of(board), ...filterClauses(filters)],
        // Each weighs more than all after it together.
        should: ranks.map((filter, at) => ({ constant_score: { filter, boost: 2 ** at } })),
      },
    },
    sort: [{ _score: 'desc' }, { 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
    aggs: {
      board: { terms: { field: 'board', size: MAX_BOARDS } },
      status: { filters: { filters: PRIMARY_STATUSES.map((status) => statusClause(status)) } },
      license_type: { terms: { field: 'license_type', size: MAX_TYPES } },
    },
  };
  const { hits, aggregations } = await lists({ index, body });
  const statuses = aggregations.status?.buckets ?? [];
  const total = hits.total?.value ?? 0;
  // The index sorts names board by board. All of a page together can be sorted as a person reads them.
  const sorted = total <= PAGE_SIZE ? hits.hits.toSorted(compareHits) : hits.hits;
  return {
    ...NONE,
    licenses: sorted.map(({ _source }) => _source),
    total,
    counts: {
      board: countsOfBoards(aggregations.board?.buckets ?? []),
      // The buckets of filters have no keys, but the order of the filters.
      status: mostFirst(
        PRIMARY_STATUSES.map((value, at) => ({ value, count: statuses[at]?.doc_count ?? 0 })),
      ),
      license_type: countsOfTypes(aggregations.license_type?.buckets ?? []),
    },
  };
}

type Hit = ListResponse['hits']['hits'][number];

function compareHits(one: Hit, other: Hit): number {
  const byRank = (other._score ?? 0) - (one._score ?? 0);
  if (byRank !== 0 || one._source.full_name === other._source.full_name) return byRank;
  return one._source.full_name < other._source.full_name ? -1 : 1;
}

function statusClause(status: string): Clause {
  return { term: { 'keys.status': fold(status) } };
}

type Buckets = readonly { readonly key: string; readonly doc_count: number }[];

function countsOfBoards(buckets: Buckets): ValueCount[] {
  const counts = new Map<string, number>();
  for (const { key, doc_count: count } of buckets) addTo(counts, currentBoardName(key), count);
  return mostFirst([...counts].map(([value, count]) => ({ value, count })));
}

/** Each type with the count of what a filter by it finds: `Nurse` also finds `Nurse (RN)`. */
function countsOfTypes(buckets: Buckets): ValueCount[] {
  const counts = new Map<string, number>();
  for (const { key: type, doc_count: count } of buckets) {
    for (const key of licenseTypeKeys(type)) addTo(counts, key, count);
  }
  const byKey = new Map(buckets.map(({ key }) => [fold(key), key]));
  return mostFirst([...byKey].map(([key, value]) => ({ value, count: counts.get(key) ?? 0 })));
}

function mostFirst(counts: readonly ValueCount[]): ValueCount[] {
  return counts.filter(({ count }) => count > 0).toSorted((one, other) => other.count - one.count);
}

const NO_LICENSE: Clause = { ids: { values: [] } };

function anyOf(clauses: readonly Clause[]): Clause {
  const [only, another] = clauses;
  if (only === undefined) return NO_LICENSE;
  return another === undefined ? only : { bool: { should: [...clauses] } };
}

function allOf(clauses: readonly Clause[]): Clause {
  return { bool: { filter: [...clauses] } };
}
