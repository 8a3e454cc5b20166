import { writeChanges } from '../changes/stored-changes.ts';
import { publicationDetails, publicationHistory } from '../publications/history.ts';
import { liveFeed } from '../publications/live-feed.ts';
import { prune } from '../publications/prune.ts';
import { writeRejects } from '../publications/rejected-rows.ts';
import { rollBack } from '../publications/rollback.ts';
import { recordAudit } from '../storage/audit-log.ts';
import { trouble } from '../storage/errors.ts';
import { followRenumbered } from '../subscriptions/subscription.ts';
import { tellingChecks, writeReport } from './checks.ts';
import type { Actions } from './options.ts';
import { described, sumOf, table } from './output.ts';
import { storeAction } from './store-command.ts';

/** Commands for the ledger, and for the publications that are kept. */
export const ACTIONS: Actions = {
  publications: storeAction(publicationHistory, ({ publications }) =>
    table(
      publications.map(({ publication, state, date, counts, changes, seconds, at, forced, reasons }) => ({
        ...{ publication, state: forced === undefined ? state : `${state} (forced)`, date },
        ...{ rows: counts?.rows, rejected: counts?.rejected, changes: changes && sumOf(changes.kinds) },
        took: seconds && `${sumOf(seconds).toFixed(1)}\u00a0s`,
        ...{ last_event: at, reasons: firstReason(reasons) },
      })),
    ),
  ),

  'publications show': storeAction(
    async (store, [id = ''], { report, rejects, changes }) => {
      const found = await publicationDetails(store, id);
      if (report !== undefined) await writeReport(report, found.summary);
      const file = changes === true ? `changes-${id}.csv` : changes;
      return {
        ...found,
        ...(rejects !== undefined && { rejects: await writeRejects(store, id, rejects) }),
        ...(file && { changes: await writeChanges(store, (await liveFeed(store)).state, id, file) }),
      };
    },
    ({ summary: { checks = [], values: _, ...summary }, events, ...files }) =>
      described({
        ...{ ...tellingChecks(checks), ...summary, events: events.map(({ at, event }) => ({ at, event })) },
        ...{ 'rejected rows': files.rejects, 'changes written': files.changes },
      }),
  ),

  'publications diff': async (given, options) => (await import('./diff.ts')).diffAction(given, options),

  rollback: storeAction(
    async (store, _given, { to: target }, config) => {
      try {
        const { from, to } = await rollBack(store, target);
        await followRenumbered(store, (await liveFeed(store)).state);
        const went = { from: from?.metadata ?? null, to: to.metadata };
        await recordAudit(store, 'rollback', { from: went.from?.publication, to: went.to.publication });
        return went;
      } catch (error) {
        const words = trouble(error, config);
        throw words === undefined ? error : new Error(`${words} ${MAY_BE_LIVE}`);
      }
    },
    ({ from, to }) => {
      const before = from ? `, in place of ${from.publication} of ${from.date}` : '. Nothing was live before';
      return `Live again: publication ${to.publication} of ${to.date}${before}.`;
    },
  ),

  prune: storeAction(
    async (store, _given, _options, { KEEP_PUBLICATIONS }) => {
      const deleted = await prune(store, KEEP_PUBLICATIONS);
      await recordAudit(store, 'prune', { deleted: deleted.join(', ') });
      return { deleted };
    },
    ({ deleted }) => (deleted.length === 0 ? 'Nothing to delete.' : `Deleted: ${deleted.join(', ')}.`),
  ),
};

/** Without this warning, an operator may roll back again, and go back one publication too far. */
const MAY_BE_LIVE = 'The earlier publication may be live already: see npx licenses publications first.';

/** The first reason, shortened to the name of its guard or to 60 characters. `publications show` has all reasons. */
function firstReason([first = '', ...more]: readonly string[] = []): string {
  const shown = first.replace(/^([a-z_]+): .*/s, '$1').replace(/^(.{59}).{2,}/s, '$1…');
  return more.length === 0 ? shown : `${shown} (and ${more.length} more)`;
}
