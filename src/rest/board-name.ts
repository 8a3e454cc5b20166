import { z } from 'zod';
import { BadRequestError } from '../licenses/bad-request.ts';
import { BOARDS, type Board, boardByName } from '../licenses/boards.ts';
import { nearestBoards } from '../licenses/nearest-boards.ts';

/** Exactly a board's name, in requests and in the OpenAPI document. */
export const boardName = z
  .enum(
    BOARDS.map(({ name }) => name),
    { error: ({ input }) => (typeof input === 'string' ? unknownBoard(input).message : 'board is needed.') },
  )
  .meta({ id: 'BoardName', description: 'Exactly the name of a board' });

/** The board with exactly this name. @throws {BadRequestError} with the nearest board's name */
export function boardNamed(name: string): Board {
  const board = boardByName(name);
  if (board === undefined) throw unknownBoard(name);
  return board;
}

/** The error for a name that is not exactly one of the 24 boards'. */
export function unknownBoard(name: string): BadRequestError {
  return new BadRequestError(
    `No board has exactly the name given; the nearest is "${nearestBoards(name)[0].name}". GET /lookup/boards lists all.`,
  );
}
