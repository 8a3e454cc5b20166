import { personName } from '../answers/words.ts';
import type { Board } from '../licenses/boards.ts';
import { type Filters, hasFilters } from '../licenses/filters.ts';
import { fold } from '../licenses/fold.ts';
import type { StoredLicense } from '../licenses/license.ts';
import { isPossible, type LookupOutcome, type NumberRequest } from '../licenses/lookup.ts';
import { nameParts, type PersonParts, readTypedPerson } from '../licenses/names.ts';
import { nearestSpellings } from '../licenses/spelling.ts';
import type { Counts } from './facets.ts';
import { businessQuery, businessWordsQuery, numberQuery, personQuery, type Scope } from './queries.ts';
import { listQuery, type PublicationSearch } from './search.ts';
import {
  type SuggestedNames,
  suggestedBusinesses,
  suggestedNumbers,
  suggestedPersons,
} from './suggestions.ts';

/** The text that a person typed into one box, and the filters beside it. */
export interface ListRequest {
  /** The numbers that the text may mean, most likely first. */
  readonly numbers: readonly NumberRequest[];
  /** The text, which may be the name of a person or of a business. */
  readonly name: string;
  readonly board: Board | undefined;
  readonly kind: 'person' | 'business' | undefined;
  readonly filters: Filters;
  /** The page to list, from 1. */
  readonly page: number;
  /** Whether to look for suggestions when nothing is found, which costs more. */
  readonly suggest: boolean;
}

/** The result for a text: one license by its number, or a list. */
export interface Listing {
  /** The outcome of the lookup by number, if the text may be a number. */
  readonly number?: LookupOutcome | undefined;
  /** One page of the licenses: exact names first, then active licenses, then by board, name and number. */
  readonly licenses: readonly StoredLicense[];
  /** The number of licenses on all pages. */
  readonly total: number;
  readonly counts?: Counts | undefined;
  /** The numbers or names that are listed instead, if nothing matches the text. */
  readonly shown: readonly string[];
  /** Whether the board and the filters are ignored, because nothing matches with them. */
  readonly ignoresFilters: boolean;
}

const NONE: Listing = { licenses: [], total: 0, shown: [], ignoresFilters: false };

/**
 * Finds a license by its number. Otherwise lists the licenses with the name. If there are none, lists the licenses that
 * may be meant: at all boards and with all statuses, for the name with its parts in another order, similar numbers,
 * similar names, or the surname alone.
 *
 * @param lookUpNumber looks up a number without suggestions, in the same publication
 */
export async function listLicenses(
  request: ListRequest,
  publication: PublicationSearch,
  lookUpNumber: (request: NumberRequest) => Promise<LookupOutcome>,
): Promise<Listing> {
  const { board, kind, filters, page, name, suggest } = request;

  async function list(
    queries: Parameters<typeof listQuery>[0],
    shown: readonly string[] = [],
    ignoresFilters = false,
  ): Promise<Listing> {
    const { licenses, total = 0, counts } = await publication.search(listQuery(queries, page));
    return { licenses, total, counts, shown, ignoresFilters };
  }

  const ofPersons = (parts: readonly PersonParts[], at: Scope = request) =>
    parts.map(({ lastName, firstName }) => personQuery(at, lastName, firstName));
  const ofBusiness = (typed: string, at: Scope = request) =>
    kind === 'person' ? [] : [businessQuery(at, typed)];

  /** Lists the licenses with similar names and the typed given names. */
  async function similar(likeliest: PersonParts | undefined): Promise<Listing> {
    const nobody: SuggestedNames = { didYouMean: [] };
    const [{ didYouMean: persons }, { didYouMean: businesses }] = await Promise.all([
      likeliest === undefined
        ? nobody
        : suggestedPersons({ by: 'person', board, filters, ...likeliest }, publication),
      // Any reading has the same businesses, so only the first searches them.
      likeliest !== readings[0] || kind === 'person'
        ? nobody
        : suggestedBusinesses({ by: 'business', board, filters, name }, publication),
    ]);
    const [nearest = ''] = nearestSpellings(name, [...persons, ...businesses], 1);
    const parts = persons.map((text) => {
      const { last, given } = nameParts(text);
      return { lastName: last, firstName: given || likeliest?.firstName };
    });
    if (persons.includes(nearest)) return list(ofPersons(parts), parts.map(personName));
    const ofBusinesses = businesses.flatMap((each) => ofBusiness(each));
    return list(ofBusinesses, businesses);
  }

  let miss: LookupOutcome | undefined;
  for (const number of request.numbers) {
    const outcome = await lookUpNumber(number);
    if (outcome.outcome !== 'none') return { ...NONE, number: outcome };
    if (outcome.reason !== 'unknown') {
      return { ...(await list([numberQuery(number.number)], [], true)), number: outcome };
    }
    // The miss of the last request is kept, because that request has the number alone.
    miss = outcome;
  }
  if (!isPossible({ by: 'business', board, name, filters })) return NONE;
  const { readings, others } = readTypedPerson(kind === 'business' ? '' : name);
  // The text looks more like a number than like a name.
  const isLikeNumber = name.replace(/\P{Nd}/gu, '').length * 2 >= fold(name).length;
  const number = isLikeNumber ? request.numbers.at(-1) : undefined;
  const asTyped = (at: Scope, isAnywhere: boolean) => [
    () => list([...ofPersons(readings, at), ...ofBusiness(name, at)], [], isAnywhere),
    () => list(kind === 'person' ? [] : [businessWordsQuery(at, name)], [], isAnywhere),
  ];
  const steps: (() => Promise<Listing>)[] = [
    ...asTyped(request, false),
    ...(board === undefined && !hasFilters(filters) ? [] : asTyped({}, true)),
    ...others.map((other) => () => list(ofPersons([other]), [personName(other)])),
  ];
  if (suggest) {
    if (number !== undefined) {
      steps.push(async () => {
        const { didYouMean: numbers } = await suggestedNumbers(number, publication);
        return list(numbers.map(numberQuery), numbers, true);
      });
    }
    for (const reading of [readings[0], ...others.slice(0, 1)]) steps.push(() => similar(reading));
    for (const { lastName } of readings.slice(0, 1))
      steps.push(() => list(ofPersons([{ lastName }]), [lastName]));
  }
  for (const step of steps) {
    const found = await step();
    if (found.total > 0) return { ...found, number: miss };
  }
  return { ...NONE, number: miss };
}
