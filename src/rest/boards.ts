import { z } from 'zod';
import { boardActivity } from '../changes/board-activity.ts';
import { named, type Route, resource } from '../http/guard.ts';
import { BOARDS, type Board } from '../licenses/boards.ts';
import { board } from './fields.ts';
import type { RestServices } from './services.ts';

const boardDetails = named('BoardDetails', {
  code: z.string().describe('The short code of the board'),
  license_types: z.array(z.string()).describe('Names of the license types that it issues'),
});

const boardsBody = named('BoardList', {
  boards: z.array(z.string()).describe('The names of the 24 boards'),
  board_details: z.record(z.string(), boardDetails).describe('By the name of the board'),
  board_activity: z.record(z.string(), boardActivity).describe('By the name of the board'),
});

const boardTypesBody = named('BoardTypes', { board: z.string(), ...boardDetails.shape });

const endpoint = resource('Boards');

type Live = Awaited<ReturnType<RestServices['lookups']['livePublication']>>['live'];

function detailsOf({ name, code }: Board, { licenseTypes }: Live): z.output<typeof boardDetails> {
  return { code, license_types: [...(licenseTypes.get(name) ?? [])] };
}

/** GET /lookup/boards (BOARDS-04) and GET /lookup/boards/{board}/types (BOARDS-06). */
export function boardRoutes({ lookups }: RestServices): Route[] {
  return [
    endpoint('GET', '/lookup/boards', {
      id: 'boards',
      summary: 'The 24 boards and their license types',
      responses: { 200: { when: 'The boards', body: boardsBody } },
      handle: async () => {
        const { live } = await lookups.livePublication();
        return {
          boards: BOARDS.map(({ name }) => name),
          board_details: Object.fromEntries(BOARDS.map((board) => [board.name, detailsOf(board, live)])),
          board_activity: Object.fromEntries(live.activity),
        } satisfies z.output<typeof boardsBody>;
      },
    }),
    endpoint('GET', '/lookup/boards/:board/types', {
      id: 'boardTypes',
      summary: 'The license types of one board',
      input: { path: z.object({ board }) },
      responses: {
        200: { when: 'The types', body: boardTypesBody },
        404: { when: 'No such address' },
      },
      handle: async (_ctx, { path: { board } }) => {
        const { live } = await lookups.livePublication();
        return { board: board.name, ...detailsOf(board, live) } satisfies z.output<typeof boardTypesBody>;
      },
    }),
  ];
}
