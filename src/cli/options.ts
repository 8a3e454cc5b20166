import { InvalidArgumentError } from 'commander';
import { boardByText, nearestBoards } from '../licenses/boards.ts';
import { isoDate } from '../licenses/dates.ts';
import { isAcceptable } from './checks.ts';

/** Reads an option. @throws {InvalidArgumentError} for any other text than a whole number from 1 to 9,999 */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 9999.');
  return Number(text);
}

/** Reads an option. @throws {InvalidArgumentError} for any other text than an existing `YYYY-MM-DD` */
export function day(text: string): string {
  if (isoDate(text) !== text) throw new InvalidArgumentError('It must be a day, YYYY-MM-DD.');
  return text;
}

/** Reads an option. @throws {InvalidArgumentError} for a blank text, as of a variable that is not set */
export function reason(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('A reason is needed.');
  return text;
}

/** Reads an option that may be repeated. @throws {InvalidArgumentError} for a guard that can't be accepted */
export function acceptable(text: string, before: readonly string[] = []): string[] {
  const [guard = '', column] = text.split(':', 2);
  if (!isAcceptable(guard) || column === '') {
    throw new InvalidArgumentError(
      'It must be a guard, or a guard and a column: column_changed:PARCEL_CITY (docs/generated/refusals.md).',
    );
  }
  return [...before, text];
}

/**
 * Reads an option that takes a board by its code, its name in any case, or words that only its name has.
 *
 * @returns the board's name
 * @throws {InvalidArgumentError} with the nearest boards
 */
export function boardName(text: string): string {
  const board = boardByText(text);
  if (board !== undefined) return board.name;
  const nearest = nearestBoards(text).map(({ code, name }) => `${name} (${code})`);
  throw new InvalidArgumentError(`The nearest is: ${nearest.join('; ')}. "licenses boards" lists all.`);
}
