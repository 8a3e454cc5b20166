import { type Board, boardByName } from '../licenses/boards.ts';

/** The board that a parameter names; its schema allows only names of boards. */
export function boardOf(name: string | undefined): Board | undefined {
  if (name === undefined) return undefined;
  const board = boardByName(name);
  if (board === undefined) throw new Error('The schema of the parameters allows only boards of the catalog.');
  return board;
}
