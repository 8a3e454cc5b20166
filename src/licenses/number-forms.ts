import STATES_BY_CODE from '../../data/states.json' with { type: 'json' };
import { BOARDS, type Board } from './boards.ts';
import { licenseTypeKeys } from './filters.ts';
import { distinctKeys, fold, numberKey } from './fold.ts';
import { MAX_CHARACTERS } from './lookup.ts';

const TYPES = BOARDS.flatMap((board) => board.license_types.map((type) => ({ ...type, board })));

/** License types by the folded forms of their names, and by the letters of their prefixes. */
const TYPES_BY_KEY = Map.groupBy(
  TYPES.flatMap((type) => [...licenseTypeKeys(type.name), fold(type.prefix)].map((key) => ({ key, type }))),
  ({ key }) => key,
);

/**
 * Boards by the letters before the digits of their numbers, such as `APRNCNP`. Two boards use `SP`. Numbers without
 * letters begin with the digits of physicians (`35.`) or of pharmacy (`03`).
 */
const BOARDS_BY_LETTERS = Map.groupBy(
  BOARDS.flatMap((board) => {
    const all = board.license_types.map(({ prefix }) => prefix.replace(/[^A-Z]/g, ''));
    return distinctKeys(all).map((letters) => ({ letters, board }));
  }),
  ({ letters }) => letters,
);
const PHYSICIANS = TYPES.map(({ prefix }) => prefix).filter((prefix) => /^\d+\.$/.test(prefix));
const OF_PHARMACY = /^0[12369]\d{6,8}$/;

const MAX_NUMBER_CHARACTERS = 30;
const MIN_DIGITS = 5;

function partsOf(text: string): { letters: string; digits: string } {
  const [, letters = '', digits = ''] = /^([A-Z]{0,20})(\d{1,20})(?:SUPV)?$/.exec(numberKey(text)) ?? [];
  return { letters, digits };
}

/** Whether a text can be a license number in any form. */
function mayBeNumber(text: string): boolean {
  const isDate = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}$/.test(text.trim());
  return text.length <= 2 * MAX_NUMBER_CHARACTERS && /\d/.test(text) && !isDate;
}

/** Whether a text looks like a license number: a board's letters and digits, or at least five digits. */
export function isLikeNumber(text: string): boolean {
  if (text.length > MAX_NUMBER_CHARACTERS || !mayBeNumber(text)) return false;
  const { letters, digits } = partsOf(text);
  return letters === '' ? digits.length >= MIN_DIGITS : BOARDS_BY_LETTERS.has(letters);
}

/** The boards whose numbers begin with the same letters as this number. None if it has no letters. */
export function boardsOfLetters(number: string): Board[] {
  return (BOARDS_BY_LETTERS.get(partsOf(number).letters) ?? []).map(({ board }) => board);
}

/** Whether a text looks like a license number, and not like a ZIP code, a phone or an employee number. */
export function isSurelyNumber(text: string): boolean {
  const { letters, digits } = partsOf(text);
  const isWithPrefix = letters !== '' || OF_PHARMACY.test(digits);
  return isLikeNumber(text) && (isWithPrefix || PHYSICIANS.some((prefix) => text.trim().startsWith(prefix)));
}

/** Parts of a text that stand on lines of their own, or between commas. */
export function partsOfText(text: string): string[] {
  return text
    .split(/[\n,;|]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The license numbers in a text; the whole text if it does not have several. */
export function numbersIn(text: string): string[] {
  if (text.length > MAX_CHARACTERS) return [text];
  const parts = partsOfText(text.replace(/&|\band\b/gi, ','));
  if (parts.length > 1 && parts.every(mayBeNumber) && parts.some(isLikeNumber)) return parts;
  const words = text.split(/\s/).filter((word) => word !== '');
  return words.length > 1 && words.every(isLikeNumber) ? words : [text.trim()];
}

/** Whether this text may be in a column of license numbers. */
export function hasNumber(text: string): boolean {
  return numbersIn(text).some(mayBeNumber);
}

const STATES: ReadonlyMap<string, string> = new Map(
  Object.entries(STATES_BY_CODE).flatMap(([code, name]) =>
    [code, fold(name)].map((key) => [key, name] as const),
  ),
);

/** The state that a text names by its code or its name; `undefined` for none. */
export function stateOf(text: string): string | undefined {
  return text.length > MAX_CHARACTERS ? undefined : STATES.get(fold(text));
}

/** The states that a text names, such as `US-KY` or `KY, OH`. */
export function statesIn(text: string): string[] {
  const parts = text.length > MAX_CHARACTERS ? [] : [text, ...text.split(/[^\p{L} ]+/u)];
  return parts.flatMap((part) => stateOf(part) ?? []);
}

/** The prefixes of the license types with this name or abbreviation. Only prefixes that end with a separator count. */
export function prefixesOfType(type: string, board?: Board): string[] {
  const key = type.length > MAX_CHARACTERS ? '' : fold(type);
  const named = key.length > 1 ? (TYPES_BY_KEY.get(key) ?? []) : [];
  const ofBoard = named.filter(({ type: each }) => board === undefined || each.board === board);
  return [...new Set(ofBoard.map((each) => each.type.prefix))].filter((prefix) => /[.-]$/.test(prefix));
}

/**
 * Adds the prefix of the license type to a number that has only digits: `987654321` of an RN becomes `RN.987654321`.
 */
export function numberWithType(number: string, type: string | undefined, board: Board | undefined): string {
  if (type === undefined || !/^\d+$/.test(number)) return number;
  const [prefix, another] = prefixesOfType(type, board);
  const isWhole = prefix === undefined || another !== undefined || number.startsWith(fold(prefix));
  return isWhole ? number : `${prefix}${number}`;
}
