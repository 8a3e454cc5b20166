import { type Board, boardByText } from './boards.ts';
import { fold } from './fold.ts';
import {
  BadRequestError,
  type LookupRequest,
  type LookupWords,
  lookupFields,
  MAX_CHARACTERS,
  readLookup,
} from './lookup.ts';
import { hasLegalForm, personParts } from './names.ts';
import {
  isSurelyNumber,
  numbersIn,
  numberWithType,
  prefixesOfType,
  stateOf,
  statesIn,
} from './number-forms.ts';

/** The fields that a row of a list may have in addition to those of a lookup. */
const OTHER_FIELDS = ['name', 'license_state', 'credential_type'] as const;

/** The names of the columns that are read from a list. */
export const ROW_FIELDS = ['reference' as const, ...lookupFields.keyof().options, ...OTHER_FIELDS];

/** The texts of a row of a list, by the meanings of their columns. */
export type RowFields = {
  readonly [Name in (typeof ROW_FIELDS)[number]]?: string | undefined;
};

/**
 * Makes the lookup of a row.
 *
 * @param defaultBoard the board of a row that names none; a business is looked up at all boards if the interface allows
 *   it
 * @throws {BadRequestError} saying what is wrong with the row
 */
export function rowRequest(
  { reference: _, license_state: state, credential_type: type, ...fields }: RowFields,
  words: LookupWords,
  defaultBoard: Board | undefined,
): LookupRequest {
  const { name, business_name, search_type, board: label = '', license_number, ...others } = fields;
  // A board column may have states instead of boards.
  const ofBoard = stateOf(label);
  const states = [state, ofBoard].map((text = '') => statesIn(text));
  const [elsewhere] = states.flatMap((all) => (all.includes('Ohio') ? [] : all));
  if (elsewhere !== undefined) {
    throw new BadRequestError(
      `Not an Ohio license: the row names ${elsewhere}. Ask the board of that state.`,
    );
  }
  const hasBoard = label !== '' && ofBoard === undefined;
  const named = hasBoard ? boardByText(label) : undefined;
  if (hasBoard && named === undefined) throw new BadRequestError(words.unknownBoard(label));
  const number =
    license_number && numberWithType(license_number, type ?? others.license_type, named ?? defaultBoard);
  const kinds = prefixesOfType(type ?? '').map(fold);
  const isOfType = kinds.length === 0 || kinds.some((kind) => fold(number ?? '').startsWith(kind));
  if (!isOfType && isSurelyNumber(number ?? ''))
    throw new BadRequestError(`${number} is not a license number for “${type}”. Correct the row.`);
  const several = numbersIn(number ?? '');
  if (several.length > 1) {
    throw new BadRequestError(
      `The cell has several license numbers: ${several.join(', ')}. Give each a row of its own.`,
    );
  }
  const board = named ?? defaultBoard;
  const known = { ...others, license_number: number, search_type: search_type?.toLowerCase() };
  const read = (given: object) => readLookup({ ...known, ...given }, words, board);
  // A business may be at any board, so the default board of the list does not apply to it.
  const readBusiness = (given: object) => {
    const isAnywhere = number === undefined && words.noBoard('business') === undefined;
    return isAnywhere && named === undefined ? readLookup({ ...known, ...given }, words) : read(given);
  };
  if (search_type?.toLowerCase() === 'business') {
    return readBusiness({ search_type: 'business', business_name: business_name ?? name });
  }
  const hasParts = others.last_name !== undefined || others.first_name !== undefined;
  const whole = hasParts ? undefined : (name ?? business_name);
  if (whole === undefined) {
    // This check comes before asking for the board, because a board alone would not help.
    if (!hasParts && number === undefined) throw new BadRequestError(words.noName);
    return read({});
  }
  // Checks the length before any code examines each word.
  if (whole.length > MAX_CHARACTERS) throw new BadRequestError(words.tooLong('name'));
  if (number !== undefined) {
    const request = read({ last_name: whole });
    return request.by === 'number' ? { ...request, name: { wholeName: whole } } : request;
  }
  if (name === undefined || hasLegalForm(whole)) {
    return readBusiness({ search_type: 'business', business_name: whole });
  }
  const [parts] = personParts(whole);
  return read({ last_name: parts?.lastName, first_name: parts?.firstName });
}
