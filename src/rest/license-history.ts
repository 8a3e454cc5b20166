import { z } from 'zod';
import { historyGap } from '../changes/feed.ts';
import type { Changes } from '../changes/service.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { responseRecord, toResponseRecord } from '../licenses/license-record.ts';
import { isMiss, type Miss } from '../licenses/lookup.ts';
import { notFoundDetail, reasonOf } from '../licenses/not-found.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/license-history.ts';
import type { Lookups } from '../lookup/service.ts';
import { lookupOutcome } from '../telemetry/outcome.ts';
import { REST_PATH } from './base-path.ts';
import { boardName, boardNamed } from './board-name.ts';
import { CHANGE_EXAMPLE, historyChangeBody, historyChangeResponse } from './changes.ts';
import { COMMON_ERRORS, errorEntry, responseEntry } from './openapi-responses.ts';
import { queryOf } from './query.ts';
import { EXAMPLE, EXAMPLE_DATE, MISSED_NUMBER } from './verify-examples.ts';
import { notFoundReason } from './verify-response.ts';

const NUMBER_NEEDED = 'license_number is needed: 1 to 100 characters.';
export const MAX_NUMBER_LENGTH = 100;

const historyQuery = z.object({
  board: boardName.transform(boardNamed).describe('Exactly the name of a board'),
  license_number: z.string(NUMBER_NEEDED).trim().min(1, NUMBER_NEEDED).max(MAX_NUMBER_LENGTH, NUMBER_NEEDED),
});

const coverage = {
  coverage_start: z.string().describe('Changes are known since the dataset of this date, YYYY-MM-DD'),
  gaps: z
    .array(historyGap)
    .optional()
    .describe('Changes between the datasets of these two dates are not known; absent when there is no gap'),
};

const historyResponse = z.object({
  board: z.string(),
  license_number: z.string(),
  ...coverage,
  record: responseRecord.nullable().describe('The license as it is now; null once it was removed'),
  changes: z.array(historyChangeBody).describe('The newest first'),
});

const neverSeenBody = z.object({ detail: z.string(), reason: notFoundReason, ...coverage });

/** The body for a number of which neither a license nor a change is known. */
function neverSeen(
  outcome: Miss,
  { date, since, gaps }: Pick<LicenseHistory, 'date' | 'since' | 'gaps'>,
): z.output<typeof neverSeenBody> {
  return {
    detail: `${notFoundDetail(outcome, date)} No change of a license of that board with this number is known since ${since}.`,
    reason: reasonOf(outcome),
    ...coverageOf({ since, gaps }),
  };
}

function coverageOf({ since, gaps }: Pick<LicenseHistory, 'since' | 'gaps'>) {
  return { coverage_start: since, ...(gaps.length > 0 && { gaps: [...gaps] }) };
}

/** GET /history: what changed in one license. */
export function historyRoute(changes: Changes, lookups: Lookups): Route {
  return {
    method: 'GET',
    path: `${REST_PATH}/history`,
    operation: {
      operationId: 'history',
      tags: ['Changes'],
      summary: 'What changed in one license',
      requestParams: { query: historyQuery },
      responses: {
        '200': responseEntry('The license and its changes', historyResponse.meta({ id: 'History' }), {
          renewed: {
            summary: 'A license that was renewed',
            value: {
              board: EXAMPLE.board,
              license_number: EXAMPLE.license_number,
              coverage_start: '2025-01-02',
              record: toResponseRecord(EXAMPLE, EXAMPLE_DATE, EXAMPLE_DATE),
              changes: [historyChangeResponse(CHANGE_EXAMPLE)],
            },
          },
        }),
        '400': errorEntry(
          'A board that is not one of the 24, or no number',
          new BadRequestError(NUMBER_NEEDED),
        ),
        ...COMMON_ERRORS,
        '404': responseEntry('A number that was never seen', neverSeenBody, {
          never: {
            summary: 'Never seen',
            value: neverSeen(MISSED_NUMBER, { date: EXAMPLE_DATE, since: '2025-01-02', gaps: [] }),
          },
        }),
      },
    },
    handle: async (ctx) => {
      const { board, license_number: number } = queryOf(ctx, historyQuery);
      const asked = { board, number };
      const history = await licenseHistory({ lookups, changes }, asked, ctx.state.keyCheckedMs);
      const { outcome, licenseNumber, record } = history;
      ctx.state.outcome = lookupOutcome(outcome);
      if (licenseNumber === undefined && isMiss(outcome)) {
        ctx.status = 404;
        ctx.body = neverSeen(outcome, history);
        return;
      }
      ctx.body = {
        board: board.name,
        license_number: licenseNumber ?? number,
        ...coverageOf(history),
        record: record === undefined ? null : toResponseRecord(record, history.date, todayInOhio()),
        changes: history.changes.map(historyChangeResponse),
      } satisfies z.output<typeof historyResponse>;
    },
  };
}
