import { z } from 'zod';
import { dataAge, dataAgeDays } from '../answers/origin.ts';
import { missFacts, toResponseRecord } from '../answers/view.ts';
import { missDetail, noChangeKnown } from '../answers/words.ts';
import { CHANGE_CAUSES, CHANGE_KINDS, fieldChange, historyChange, storedChange } from '../changes/change.ts';
import { cursorText, historyGap } from '../changes/feed.ts';
import { UNKNOWN_CURSOR } from '../changes/service.ts';
import { accountOf, named, type Route, resource } from '../http/guard.ts';
import { visibleText } from '../licenses/fold.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/service.ts';
import { board, fromText, whole } from './fields.ts';
import { licenseBody } from './lookup.ts';
import type { RestServices } from './services.ts';

// Client generators need a named schema for the values of a map.
fieldChange.register(z.globalRegistry, { id: 'FieldChange' });

/** `shown` are the fields of a change in responses; the fields before it are internal. */
const { feed, epoch, position, license, number, erases, last_in_dataset, ...shown } = storedChange.shape;

/** A change in a response. */
export const changeBody = z.object(shown);

const { withdrawn } = historyChange.shape;
export const historyChangeBody = named('HistoryChange', { ...shown, withdrawn });

/** The highest `limit` of changes per response, and the default. */
export const MAX_CHANGES = 1000;
export const DEFAULT_CHANGES = 100;

const MAX_CURSOR_LENGTH = 100;

const SINCE_WORDS =
  'A cursor from an earlier response; "latest" for the cursor of now; nothing for the oldest change kept';

const changesQuery = z.object({
  since: z.string().max(MAX_CURSOR_LENGTH, UNKNOWN_CURSOR).optional().describe(SINCE_WORDS),
  board: board.optional(),
  kind: z.enum(CHANGE_KINDS, `kind must be one of ${CHANGE_KINDS.join(', ')}.`).optional(),
  cause: z.enum(CHANGE_CAUSES, `cause must be one of ${CHANGE_CAUSES.join(', ')}.`).optional(),
  limit: fromText(whole('limit', 1, MAX_CHANGES).default(DEFAULT_CHANGES)),
  watched: z
    .enum(['true', 'false'], 'watched must be true or false.')
    .default('false')
    .describe('true for only the changes of the licenses that your account watches (/subscriptions)'),
});

const feedChange = named('Change', {
  ...shown,
  cursor: z.string().describe('The place of this change in the feed'),
  reference: z.string().nullish().describe('With watched=true: what your subscription calls the license'),
});

const changesResponse = named('ChangePage', {
  changes: z.array(feedChange),
  next: z.string().describe('The cursor to send as since in the next request'),
  more: z.boolean().describe('Whether there are more changes already'),
});

const endpoint = resource('Changes');

const NUMBER_NEEDED = 'license_number is needed: 1 to 100 characters.';
export const MAX_NUMBER_LENGTH = 100;

export const historyQuery = z.object({
  board: board.describe('Exactly the name of a board'),
  license_number: z
    .string(NUMBER_NEEDED)
    .overwrite((text) => visibleText(text).trim())
    .min(1, NUMBER_NEEDED)
    .max(MAX_NUMBER_LENGTH, NUMBER_NEEDED),
});

const GAPS_WORDS =
  'Changes between the datasets of these two dates are not known; absent when there is no gap';

const coverage = {
  coverage_start: z.string().describe('Changes are known since the dataset of this date, YYYY-MM-DD'),
  gaps: z.array(historyGap).optional().describe(GAPS_WORDS),
};

const historyResponse = named('LicenseHistory', {
  board: z.string(),
  license_number: z.string(),
  ...coverage,
  record: licenseBody.nullable().describe('The license as it is now; null once it was removed'),
  changes: z.array(historyChangeBody).describe('The newest first'),
});

const { reason } = missFacts.shape;
const neverSeenBody = named('NeverSeen', { detail: z.string(), reason, ...dataAge, ...coverage });

function coverageOf({ since, gaps }: Pick<LicenseHistory, 'since' | 'gaps'>) {
  return { coverage_start: since, ...(gaps.length > 0 && { gaps: [...gaps] }) };
}

/** GET /changes: the feed of changes. GET /history: the changes of one license. */
export function changesRoutes(services: RestServices): Route[] {
  const feed = endpoint('GET', '/changes', {
    id: 'changes',
    summary: 'What changed',
    description:
      'Every license that was added, changed or removed, oldest first. Keep the cursor in next, and send it as ' +
      'since the next time: no change is lost or repeated. A cursor is a place, not a time; filters do not change it. With ' +
      'filters, a page may have fewer changes than limit, even none, while more is true.',
    input: { query: changesQuery },
    responses: {
      200: { when: 'The changes', body: changesResponse },
      410: { when: 'A cursor whose changes are no longer kept' },
    },
    handle: async (ctx, { query: { since = '', limit, watched, ...filters } }) => {
      const watchedBy = watched === 'true' ? accountOf(ctx) : undefined;
      const page = await services.changes.page({ since, limit, ...filters, watchedBy });
      const listed = page.changes.map(({ reference, ...change }) => ({
        cursor: cursorText(change),
        ...(reference !== undefined && { reference }),
        ...changeBody.parse(change),
      }));
      return { ...page, changes: listed } satisfies z.output<typeof changesResponse>;
    },
  });
  const history = endpoint('GET', '/history', {
    id: 'history',
    summary: 'What changed in one license',
    input: { query: historyQuery },
    responses: {
      200: { when: 'The license and its changes', body: historyResponse },
      404: { when: 'A number that was never seen', body: neverSeenBody },
    },
    handle: async (ctx, { query: { board, license_number: number } }) => {
      const history = await licenseHistory(services, { board, number }, ctx.state.keyCheckedMs);
      const { outcome, licenseNumber, record } = history;
      ctx.state.outcome = outcome.outcome;
      if (licenseNumber === undefined && outcome.outcome === 'none') {
        ctx.status = 404;
        return {
          detail: [missDetail(outcome, history, 'rest'), ...noChangeKnown(outcome, history.since)].join(' '),
          reason: outcome.reason,
          data_age_days: dataAgeDays(history),
          ...coverageOf(history),
        } satisfies z.output<typeof neverSeenBody>;
      }
      return {
        board: board.name,
        license_number: licenseNumber ?? number,
        ...coverageOf(history),
        record: record === undefined ? null : toResponseRecord(record, history),
        changes: history.changes.map((change) => historyChangeBody.parse(change)),
      } satisfies z.output<typeof historyResponse>;
    },
  });
  return [feed, history];
}
