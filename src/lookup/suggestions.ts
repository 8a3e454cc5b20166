import { distance } from 'fastest-levenshtein';
import { boardByLabel } from '../licenses/boards.ts';
import { hasFilters } from '../licenses/filters.ts';
import { fold, MAX_FOLDED_CHARACTERS, numberKey } from '../licenses/fold.ts';
import type { StoredLicense } from '../licenses/license.ts';
import {
  type BusinessRequest,
  MAX_MATCHES,
  type Miss,
  type NumberRequest,
  type PersonRequest,
  type TypedName,
} from '../licenses/lookup.ts';
import {
  firstGivenName,
  foldPersonName,
  givenNames,
  givenNamesKey,
  halfKey,
  isNamed,
  matchesBusinessName,
  matchesPersonName,
  nameParts,
  nameToSearch,
  personParts,
  surnameKey,
  type TypedParts,
} from '../licenses/names.ts';
import { givenNameVariants, nearestSpellings } from '../licenses/spelling.ts';
import {
  businessQuery,
  businessWordsQuery,
  type LikelyName,
  likelyPersonsQuery,
  MAX_SUGGESTED_NAMES,
  type NameQuery,
  nearGivenNameQuery,
  nearNumberQuery,
  nearSurnamesBody,
  personQuery,
  type Scope,
  similarWordsQuery,
} from './queries.ts';
import type { PublicationSearch } from './search.ts';

type Found = readonly StoredLicense[];

/** How many numbers are suggested when no license has the requested one. */
const MAX_SUGGESTED_NUMBERS = 3;

/** The most edits between the typed number and a number that is suggested because its holder has the typed name. */
const MAX_EDITS_WITH_NAME = 2;

/**
 * Existing numbers to suggest for a number that no license has, best first. If a holder of the typed name has a similar
 * number, only such numbers are suggested.
 */
export async function suggestedNumbers(
  request: NumberRequest,
  publication: PublicationSearch,
): Promise<OfferedNumbers> {
  const { board, number, businessOnly } = request;
  const [{ licenses: near }, { licenses: named }] = await Promise.all([
    publication.search(nearNumberQuery(request)),
    publication.search(request.name && nameQueries({ board, select: MAX_MATCHES + 1 }, request.name)[0]),
  ]);
  const key = numberKey(number);
  const ofHolder = named.filter(
    ({ license_number: each, keys }) =>
      distance(key, numberKey(each)) <= MAX_EDITS_WITH_NAME && (!businessOnly || keys.kind === 'business'),
  );
  const atBoard = near.filter((license) => license.board === board?.name);
  const [candidates = []] = [ofHolder, atBoard, near].filter(({ length }) => length > 0);
  return offeredNumbers(request, candidates);
}

type OfferedNumbers = Pick<Miss, 'didYouMean' | 'ofTheName' | 'offered'>;

/**
 * The numbers to suggest from some licenses, those closest to the typed number first, and which of them belong to a
 * holder with the name that was sent.
 */
export function offeredNumbers({ number, name }: NumberRequest, licenses: Found): OfferedNumbers {
  const numbersOf = (some: Found) => some.map((license) => license.license_number);
  const didYouMean = nearestSpellings(number, numbersOf(licenses), MAX_SUGGESTED_NUMBERS);
  const offered = licenses.filter(({ license_number: each }) => didYouMean.includes(each));
  const numbers = { didYouMean, ...(offered.length > 0 && { offered }) };
  if (name === undefined) return numbers;
  const ofHolder = numbersOf(licenses.filter((license) => isHolder(license, name)));
  return { ...numbers, ofTheName: didYouMean.filter((each) => ofHolder.includes(each)) };
}

/** Whether the name that was sent with a number is the name of the license's holder. */
export function isHolder({ keys: { kind }, full_name: name }: StoredLicense, typed: TypedName): boolean {
  if (kind === 'business') return matchesBusinessName(name, wholeNameOf(typed));
  if ('businessName' in typed) return false;
  if ('wholeName' in typed) return isNamed(name, typed.wholeName);
  return matchesPersonName(name, typed);
}

/**
 * Whether any license of this license's board has the name that was sent with the number; `undefined` if the name
 * cannot be searched, such as a given name alone.
 */
export async function isNameAtBoard(
  { board: label }: Pick<StoredLicense, 'board'>,
  { name }: NumberRequest,
  publication: PublicationSearch,
): Promise<boolean | undefined> {
  const board = boardByLabel(label);
  const queries = board === undefined || name === undefined ? [] : nameQueries({ board, select: 1 }, name);
  return queries.length === 0 ? undefined : hasMatch(queries, publication);
}

/** Whether any license matches one of the queries, which are tried in order. */
export async function hasMatch(
  queries: readonly (NameQuery | undefined)[],
  publication: PublicationSearch,
): Promise<boolean> {
  for (const query of queries) if ((await publication.search(query)).licenses.length > 0) return true;
  return false;
}

/**
 * The searches for a name that was sent with a number: first as a person's name, then as a business name. None if the
 * name cannot be searched.
 */
function nameQueries(scope: Scope, name: TypedName): readonly NameQuery[] {
  const whole = wholeNameOf(name);
  if (fold(whole).length > MAX_FOLDED_CHARACTERS) return [];
  const persons = partsOf(name).flatMap(
    ({ lastName = '', firstName }) => personQuery(scope, lastName, firstName) ?? [],
  );
  const [first] = persons;
  const queries = [
    first && { ...first, names: persons.flatMap(({ names }) => names) },
    businessQuery(scope, whole),
    businessWordsQuery(scope, whole),
  ];
  return queries.filter((query) => query !== undefined);
}

/**
 * Limits the readings of a whole name, because each is searched at all boards. A name of three words has four readings.
 */
const MAX_READINGS = 4;

/** The ways to read a name as a person's name. */
function partsOf(name: TypedName): readonly TypedParts[] {
  if ('businessName' in name) return [];
  return 'wholeName' in name ? personParts(name.wholeName).slice(0, MAX_READINGS) : [name];
}

/** The name to search as a business name; empty for a given name alone. */
function wholeNameOf(name: TypedName): string {
  if ('wholeName' in name) return name.wholeName;
  if ('businessName' in name) return name.businessName;
  // Forms with a single field for names send any name as the last name.
  return name.lastName === undefined ? '' : [name.lastName, name.firstName].filter(Boolean).join(' ');
}

/** What is suggested when no license matches a name. */
export type SuggestedNames = Pick<Miss, 'didYouMean' | 'surnameExists'>;

/** Names of businesses with similar words, those with the closest spelling first. */
export async function suggestedBusinesses(
  request: BusinessRequest,
  publication: PublicationSearch,
): Promise<SuggestedNames> {
  const { name } = request;
  const { licenses } = await publication.search(similarWordsQuery(request, name));
  const names = licenses.map((license) => license.full_name);
  return { didYouMean: nearestSpellings(name, names, MAX_SUGGESTED_NAMES) };
}

/** Names to suggest for a name that nobody has, best first: folded surnames, and `SURNAME, GIVEN`. */
export async function suggestedPersons(
  request: PersonRequest,
  publication: PublicationSearch,
): Promise<SuggestedNames> {
  const { board, lastName, firstName, filters } = request;
  const typed = {
    surname: surnameKey(lastName, firstName !== undefined),
    given: givenNamesKey(firstName ?? ''),
  };
  const isNarrowed = firstName !== undefined || hasFilters(filters);
  const anyone = likelyPersonsQuery({ board, select: 1 }, [{ ...typed, given: '' }]);
  const [surnameExists, { licenses: others }, surnames] = await Promise.all([
    // Without a given name and filters, the lookup has already shown that nobody has the surname.
    isNarrowed && hasMatch([anyone], publication),
    publication.search(likelyPersonsQuery({ board }, halfOrSwapped(typed))),
    publication.nearSurnames(nearSurnamesBody(board, lastName)),
  ]);
  const suggested = surnameExists
    ? await similarPersons(request, typed, surnames, publication)
    : [...others.map((each) => (firstName === undefined ? surnameOf(each) : nameOf(each))), ...surnames];
  const didYouMean = [...new Set(suggested)].slice(0, MAX_SUGGESTED_NAMES);
  return { ...(surnameExists && { surnameExists }), didYouMean };
}

/** The name with its surname as half of a double surname, and the name with surname and given name swapped. */
function halfOrSwapped({ surname, given }: LikelyName): LikelyName[] {
  const names = [
    { surname: halfKey(surname), given },
    { surname: given, given: surname },
  ];
  return surname === '' ? [] : names.filter((name) => name.surname !== '' && name.surname !== surname);
}

/**
 * Suggests persons with the surname and a similar given name, persons with the names swapped, and persons with a
 * similar surname and the given name.
 */
async function similarPersons(
  request: PersonRequest,
  typed: LikelyName,
  surnames: readonly string[],
  publication: PublicationSearch,
): Promise<string[]> {
  const { surname, given } = typed;
  if (given === '') return [];
  const variants = givenNameVariants(fold(firstGivenName(request.firstName ?? '')));
  const otherGiven = variants.map((each) => ({ surname, given: each }));
  const otherSurname = [...halfOrSwapped(typed), ...surnames.map((each) => ({ surname: each, given }))];
  const [{ licenses: ofOtherGiven }, { licenses: ofSimilarGiven }, { licenses: ofOtherSurname }] =
    await Promise.all([
      publication.search(likelyPersonsQuery(request, otherGiven)),
      publication.search(nearGivenNameQuery(request, typed)),
      publication.search(likelyPersonsQuery(request, otherSurname)),
    ]);
  const isOfHalf = ({ full_name: name }: StoredLicense) => foldPersonName(name).halves.includes(surname);
  const isVariant = ({ full_name: name }: StoredLicense) =>
    variants.includes(fold(firstGivenName(nameParts(name).given)));
  const similarGiven = ofSimilarGiven.filter((license) => hasSimilarGivenName(license, given)).map(nameOf);
  return [
    ...ofOtherSurname.filter(isOfHalf).map(nameOf),
    ...ofOtherGiven.filter(isVariant).map(nameOf),
    ...nearestSpellings(`${surname}${given}`, similarGiven, MAX_SUGGESTED_NAMES),
    ...ofOtherSurname.map(nameOf),
  ];
}

const nameOf = ({ full_name: name }: StoredLicense) => nameToSearch(name);
const surnameOf = ({ full_name: name }: StoredLicense) => foldPersonName(name).surname;

/** Whether the first given name is the typed one with one typing mistake, or a later name begins with the typed one. */
function hasSimilarGivenName({ full_name: name }: StoredLicense, typed: string): boolean {
  const [first = '', ...later] = givenNames(nameParts(name).given).map(fold);
  return isOneSlip(typed, first) || later.some((each) => each.startsWith(typed));
}

/** Whether one letter was changed, left out or inserted, or two neighboring letters were swapped. */
function isOneSlip(typed: string, meant: string): boolean {
  const edits = distance(typed, meant);
  const letters = (text: string) => Array.from(text).toSorted().join('');
  return edits === 1 || (edits === 2 && letters(typed) === letters(meant));
}
