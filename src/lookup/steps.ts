import { addTo } from '../licenses/counts.ts';
import { hasFilters } from '../licenses/filters.ts';
import { isExactNumber } from '../licenses/fold.ts';
import { licenseId, type StoredLicense } from '../licenses/license.ts';
import {
  isPossible,
  type LookupOutcome,
  type LookupRequest,
  MAX_MATCHES,
  type Miss,
  type NameRequest,
  type NotFoundReason,
  type NumberRequest,
} from '../licenses/lookup.ts';
import { givenNamesKey } from '../licenses/names.ts';
import { PRIMARY_STATUSES } from '../licenses/standing.ts';
import { OTHER_STATUS } from './facets.ts';
import {
  businessQuery,
  businessWordsQuery,
  commonNumberQuery,
  hasExactName,
  type NameQuery,
  numberQuery,
  personQuery,
  type Scope,
} from './queries.ts';
import { listQuery, type PublicationSearch } from './search.ts';
import {
  hasMatch,
  isHolder,
  isNameAtBoard,
  offeredNumbers,
  suggestedBusinesses,
  suggestedNumbers,
  suggestedPersons,
} from './suggestions.ts';

type Found = readonly StoredLicense[];

/** A miss without suggestions. */
export function none(request: LookupRequest, reason: NotFoundReason = 'unknown'): Miss {
  return { outcome: 'none', reason, request, didYouMean: [] };
}

/**
 * Runs the queries of a lookup and chooses its outcome.
 *
 * @param publication the publication to search
 * @param suggest whether to look for suggestions when nothing is found, which costs more
 */
export async function lookUp(
  request: LookupRequest,
  publication: PublicationSearch,
  suggest: boolean,
): Promise<LookupOutcome> {
  if (!isPossible(request)) return none(request);
  return request.by === 'number'
    ? lookUpNumber(request, publication, suggest)
    : lookUpName(request, publication, suggest);
}

const KNOWN_STATUSES: ReadonlySet<string> = new Set(PRIMARY_STATUSES.map((status) => status.toUpperCase()));

/** How many licenses match a name, including those that a lookup does not return. */
export type MatchCounts = Awaited<ReturnType<typeof matchCounts>>;

/**
 * Counts the matches of a name if a lookup found several; else `undefined`. The counts by status are by primary status
 * in upper case.
 */
export async function matchCounts(
  request: LookupRequest,
  outcome: LookupOutcome,
  publication: PublicationSearch,
) {
  if (outcome.outcome !== 'several' || request.by === 'number') return undefined;
  for (const query of outcome.truncated ? queriesOf(request) : []) {
    const { total = 0, counts } = await publication.search(listQuery([query], 1));
    const byStatus = Array.from(
      counts?.status ?? [],
      ([name, count]) => [name.toUpperCase(), count] as const,
    );
    if (total > 0) return { total, byStatus: new Map(byStatus) };
  }
  const byStatus = new Map<string, number>();
  for (const { status } of outcome.records)
    addTo(byStatus, status !== null && KNOWN_STATUSES.has(status) ? status : OTHER_STATUS);
  return { total: outcome.records.length, byStatus };
}

/**
 * The searches for a name, in the order to try them. For a business: by the beginning of its name, then by its words.
 */
function queriesOf(request: NameRequest, scope: Scope = request): (NameQuery | undefined)[] {
  return request.by === 'person'
    ? [personQuery(scope, request.lastName, request.firstName)]
    : [businessQuery(scope, request.name), businessWordsQuery(scope, request.name)];
}

async function lookUpNumber(request: NumberRequest, publication: PublicationSearch, suggest: boolean) {
  const { board, number } = request;
  const written = await publication.search(board && { by: 'id', id: licenseId(board.name, number) });
  const asTyped = written.licenses.filter(
    (license) => license.board === board?.name && license.license_number === number,
  );
  const sameKey = asTyped.length > 0 ? asTyped : await licensesOfNumberKey(request, publication);
  const outcome = chooseByNumber(request, sameKey);
  if (!suggest) return outcome;
  if (outcome.outcome === 'found' && outcome.nameMatch === false)
    return { ...outcome, isNameAtBoard: await isNameAtBoard(outcome.record, request, publication) };
  if (outcome.outcome !== 'none' || outcome.reason !== 'unknown') return outcome;
  return { ...outcome, ...(await suggestedNumbers(request, publication)) };
}

/**
 * The licenses whose number has the same key as the typed number. If there are very many, reads those of the requested
 * board.
 */
async function licensesOfNumberKey(
  { board, number }: NumberRequest,
  publication: PublicationSearch,
): Promise<Found> {
  const query = numberQuery(number);
  const { licenses, isComplete } = await publication.search(query);
  if (query === undefined || isComplete) return licenses;
  const ofBoard = await publication.search(commonNumberQuery(query, board));
  return ofBoard.licenses.length > 0 ? ofBoard.licenses : licenses;
}

async function lookUpName(request: NameRequest, publication: PublicationSearch, suggest: boolean) {
  for (const query of queriesOf(request)) {
    const { licenses, isComplete } = await searchNames(query, publication);
    const [only, another] = licenses;
    const truncated = !isComplete || licenses.length > MAX_MATCHES;
    const records = licenses.slice(0, MAX_MATCHES);
    if (another !== undefined) return { outcome: 'several', records, truncated } as const;
    const isNamePartial = request.by === 'person' && givenNamesKey(request.firstName ?? '').length < 2;
    if (only !== undefined) return { outcome: 'found', record: only, isNamePartial } as const;
  }
  if (!suggest) return none(request);
  const [suggested, nameExists] = await Promise.all([
    request.by === 'person'
      ? suggestedPersons(request, publication)
      : suggestedBusinesses(request, publication),
    // Whether only the filters exclude the licenses with the name.
    hasFilters(request.filters) &&
      hasMatch(queriesOf(request, { board: request.board, select: 1 }), publication),
  ]);
  return { ...none(request), ...(nameExists && { nameExists }), ...suggested };
}

/** The matches of a name: exact names first, then by name and number. */
async function searchNames(query: NameQuery | undefined, publication: PublicationSearch) {
  const result = await publication.search(query);
  const { licenses: found, isComplete } = result;
  // A single match needs no sorting, and a query by words has no exact names.
  if (query === undefined || query.by === 'words' || found.length < 2) return result;
  const { exact = [], others = [] } = Object.groupBy(found, (license) =>
    hasExactName(query, license) ? 'exact' : 'others',
  );
  // If there are more matches than were returned, exact names may be among those that were not returned.
  const allExact = isComplete ? exact : (await publication.search({ ...query, select: 'exact' })).licenses;
  return { licenses: [...allExact, ...others], isComplete };
}

/** @param sameKey every license whose number has the same key as the typed number */
function chooseByNumber(request: NumberRequest, sameKey: Found): LookupOutcome {
  const { board, businessOnly } = request;
  const atBoard = board === undefined ? sameKey : sameKey.filter(({ board: name }) => name === board.name);
  const ofKind = businessOnly ? atBoard.filter(({ keys }) => keys.kind === 'business') : atBoard;
  const eligible = exactOf(ofKind, request);
  const [only, another] = eligible;
  if (another !== undefined) {
    return { ...numberMiss(request, 'ambiguous', eligible), boards: boardsOf(eligible) };
  }
  if (only !== undefined) {
    const { name } = request;
    return { outcome: 'found', record: only, ...(name && { nameMatch: isHolder(only, name) }) };
  }
  if (atBoard.length > 0) return numberMiss(request, 'not_a_business', []);
  if (sameKey.length === 0) return none(request);
  const forms = businessOnly ? sameKey.filter(({ keys }) => keys.kind === 'business') : sameKey;
  return { ...numberMiss(request, 'other_board', forms), boards: boardsOf(exactOf(sameKey, request)) };
}

/** The licenses whose number is the typed one, ignoring case and surrounding blanks; all of them if there is none. */
export function exactOf<Numbered extends { readonly license_number: string }>(
  sameKey: readonly Numbered[],
  { number }: NumberRequest,
): readonly Numbered[] {
  const exact = sameKey.filter((license) => isExactNumber(number, license.license_number));
  return exact.length > 0 ? exact : sameKey;
}

function boardsOf(licenses: Found): string[] {
  return [...new Set(licenses.map(({ board }) => board))].toSorted();
}

/** @param existing the licenses whose numbers are offered */
function numberMiss(request: NumberRequest, reason: NotFoundReason, existing: Found): Miss {
  return { ...none(request, reason), ...offeredNumbers(request, existing) };
}
