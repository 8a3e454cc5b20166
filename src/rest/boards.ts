import createError from 'http-errors';
import { z } from 'zod';
import { boardActivity } from '../changes/board-activity.ts';
import type { Route } from '../http/route.ts';
import { checked } from '../licenses/bad-request.ts';
import { BOARDS, type Board } from '../licenses/boards.ts';
import type { Lookups } from '../lookup/service.ts';
import {
  board,
  boardName,
  COMMON_ERRORS,
  errorEntry,
  REST_PATH,
  responseEntry,
  unknownBoard,
} from './operation.ts';

const boardDetails = z.object({
  code: z.string().describe('The short code of the board'),
  license_types: z.array(z.string()).describe('Names of the license types that it issues'),
});

const boardsBody = z.object({
  boards: z.array(z.string()).describe('The names of the 24 boards'),
  board_details: z.record(z.string(), boardDetails).describe('By the name of the board'),
  board_activity: z.record(z.string(), boardActivity).describe('By the name of the board'),
});

const boardTypesBody = z.object({ board: z.string(), ...boardDetails.shape });

const EXAMPLE = { code: 'NUR', license_types: ['Registered Nurse (RN)'] };

type LiveTypes = Pick<Awaited<ReturnType<Lookups['livePublication']>>, 'licenseTypes'>;

function detailsOf({ name, code }: Board, { licenseTypes }: LiveTypes): z.output<typeof boardDetails> {
  return { code, license_types: [...(licenseTypes.get(name) ?? [])] };
}

/** GET /lookup/boards (BOARDS-04). */
export function boardsRoute(lookups: Lookups): Route {
  return {
    method: 'GET',
    path: `${REST_PATH}/lookup/boards`,
    operation: {
      operationId: 'boards',
      tags: ['Boards'],
      summary: 'The 24 boards and their license types',
      responses: {
        '200': responseEntry('The boards', boardsBody.meta({ id: 'Boards' }), {
          example: {
            boards: ['Nursing Board'],
            board_details: { 'Nursing Board': EXAMPLE },
            board_activity: {
              'Nursing Board': { last_changed: '2026-11-20', usual_changes_per_day: 812.35 },
            },
          },
        }),
        ...COMMON_ERRORS,
      },
    },
    handle: async (ctx) => {
      const live = await lookups.livePublication();
      ctx.body = {
        boards: BOARDS.map(({ name }) => name),
        board_details: Object.fromEntries(BOARDS.map((board) => [board.name, detailsOf(board, live)])),
        board_activity: Object.fromEntries(live.activity),
      } satisfies z.output<typeof boardsBody>;
    },
  };
}

/** GET /lookup/boards/{board}/types (BOARDS-06). */
export function boardTypesRoute(lookups: Lookups): Route {
  return {
    method: 'GET',
    path: `${REST_PATH}/lookup/boards/:board/types`,
    operation: {
      operationId: 'boardTypes',
      tags: ['Boards'],
      summary: 'The license types of one board',
      requestParams: {
        path: z.object({
          board: boardName.meta({ description: 'The name of the board, percent-encoded' }),
        }),
      },
      responses: {
        '200': responseEntry('The types', boardTypesBody.meta({ id: 'BoardTypes' }), {
          example: { board: 'Nursing Board', ...EXAMPLE },
        }),
        '400': errorEntry('A board that is not one of the 24', unknownBoard('Nursing')),
        ...COMMON_ERRORS,
        '404': errorEntry('An address that is none', createError(404)),
      },
    },
    handle: async (ctx) => {
      const asked = checked(board, ctx.params.board);
      const details = detailsOf(asked, await lookups.livePublication());
      ctx.body = { board: asked.name, ...details } satisfies z.output<typeof boardTypesBody>;
    },
  };
}
