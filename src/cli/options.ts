import { InvalidArgumentError } from 'commander';
import { boardByText, nearestBoards } from '../licenses/boards.ts';
import { isoDate } from '../licenses/dates.ts';
import { isAcceptable } from './checks.ts';
import type { Outcome } from './output.ts';

/** What a command does with its arguments and options; `data/commands.json` says which it takes. */
type Action = (given: readonly string[], options: never) => Promise<Outcome | undefined>;

/** Actions by their commands: `keys create`. */
export type Actions = Readonly<Record<string, Action>>;

interface OptionReader {
  /** @throws {InvalidArgumentError} for a text that the option does not take */
  readonly read?: (text: string, before: unknown) => unknown;
  /** The environment variable that gives the option, too. */
  readonly variable?: string;
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 9999.');
  return Number(text);
}

function day(text: string): string {
  if (isoDate(text) !== text) throw new InvalidArgumentError('It must be a day, YYYY-MM-DD.');
  return text;
}

/** A variable that is not set is blank. */
function reason(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('A reason is needed.');
  return text;
}

function acceptable(text: string, before: unknown = []): unknown[] {
  const [guard = '', column] = text.split(':', 2);
  if (!isAcceptable(guard) || column === '') {
    throw new InvalidArgumentError(
      'It must be a guard, or a guard and a column: column_changed:PARCEL_CITY (docs/generated/refusals.md).',
    );
  }
  return [before, text].flat();
}

/** The board's name, by its code, its name in any case, or words that only its name has. */
function boardName(text: string): string {
  const board = boardByText(text);
  if (board !== undefined) return board.name;
  const nearest = nearestBoards(text).map(({ code, name }) => `${name} (${code})`);
  throw new InvalidArgumentError(`The nearest is: ${nearest.join('; ')}. "licenses boards" lists all.`);
}

const NUMBERS = ['rows', 'seed', 'changed', 'added', 'removed', 'renamed', 'renumbered'] as const;

/** How options are read, by their names; others are texts. */
export const READERS: ReadonlyMap<string, OptionReader> = new Map<string, OptionReader>([
  ['url', { variable: 'LICENSES_URL' }],
  ['key', { variable: 'LICENSES_KEY' }],
  ['board', { read: boardName }],
  ['date', { read: day }],
  ['accept', { read: acceptable }],
  ['force', { read: reason }],
  ['limit', { read: wholeNumber }],
  ['days', { read: wholeNumber }],
  ...NUMBERS.map((name): [string, OptionReader] => [name, { read: Number }]),
]);
