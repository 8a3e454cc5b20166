import { Readable } from 'node:stream';
import { jsonBody, textBody, utf8WithMark } from '../http/body.ts';
import { type Context, clientGone } from '../http/context.ts';
import { UnsupportedMediaTypeError } from '../http/errors.ts';
import { type RosterCost, spendForItems } from '../http/limits.ts';
import type { Route } from '../http/route.ts';
import type { Rosters } from '../rosters/service.ts';
import { answerTable, itemsTable, type RosterTable, readTable } from '../rosters/table.ts';
import { REST_PATH } from './base-path.ts';
import { rosterOperation } from './roster-operation.ts';
import {
  MEDIA_TYPES,
  ROSTER_LIMIT,
  rosterRequest,
  tableRequest,
  type UnreadRoster,
} from './roster-request.ts';
import { jsonAnswer } from './roster-response.ts';

/** POST /lookup/batch: up to 1,000 lookups in one request, as JSON or as CSV. */
export function rosterRoute(rosters: Rosters, cost: RosterCost): Route {
  return {
    method: 'POST',
    path: `${REST_PATH}/lookup/batch`,
    operation: rosterOperation(cost.itemsPerRequest),
    handle: async (ctx) => {
      const { unread, table, isTable } = await readRoster(ctx);
      await spendForItems(ctx, unread.count, cost);
      const roster = await unread.read();
      const format = isTable ? ['text/csv', 'application/json'] : ['application/json', 'text/csv'];
      const type = ctx.accepts(format) || format[0];
      const { shape, parts } = type === 'text/csv' ? answerTable(table()) : jsonAnswer();
      const body = parts(await rosters.answer(roster, shape, clientGone(ctx)));
      ctx.type = type === 'text/csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8';
      ctx.body = Readable.from(body);
      ctx.length = body.reduce((sum, { length }) => sum + length, 0);
    },
  };
}

interface ReadRoster {
  readonly unread: UnreadRoster;
  /** The roster as rows, to which an answer in CSV adds columns. */
  readonly table: () => RosterTable;
  readonly isTable: boolean;
}

async function readRoster(ctx: Context): Promise<ReadRoster> {
  if (ctx.request.type.toLowerCase() === 'text/csv') {
    const table = await readTable(await textBody(ctx, ROSTER_LIMIT, utf8WithMark));
    return { unread: tableRequest(table, ctx.query), table: () => table, isTable: true };
  }
  if (ctx.request.type !== '' && ctx.request.type.toLowerCase() !== 'application/json') {
    throw new UnsupportedMediaTypeError(MEDIA_TYPES);
  }
  const unread = rosterRequest(await jsonBody(ctx, ROSTER_LIMIT), ctx.query);
  return { unread, table: () => itemsTable(unread.items), isTable: false };
}
