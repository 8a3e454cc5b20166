import { BOARDS, type Board } from '../../src/licenses/boards.ts';

/** The board in the catalog with this code. */
export function boardOfCode(code: string): Board {
  const board = BOARDS.find((entry) => entry.code === code);
  if (board === undefined) throw new Error(`The catalog has no board with the code ${code}.`);
  return board;
}
