import { z } from 'zod';
import { sentencesOf, type View, viewOf } from '../answers/view.ts';
import { missMessage, noChangeKnown } from '../answers/words.ts';
import { CHANGE_CAUSES, CHANGE_KINDS, fieldChange, type HistoryChange } from '../changes/change.ts';
import { historyGap } from '../changes/feed.ts';
import type { Changes } from '../changes/service.ts';
import { type Board, boardByName } from '../licenses/boards.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { type LicenseHistory, type Lookups, licenseHistory } from '../lookup/service.ts';
import { historyParameters, readParameters } from './parameters.ts';
import { compact, compactLicense, messageOf, originOf, resultOrigin } from './results.ts';

/** More would fill a model's context. */
const MAX_CHANGES = 50;

const change = z.object({
  date: z.string().describe('The run date of the dataset that has the change, YYYY-MM-DD'),
  kind: z.enum(CHANGE_KINDS),
  cause: z
    .enum(CHANGE_CAUSES)
    .describe(
      'data: the State’s dataset says something else. rejected_row: its row could not be read (removed), or can be ' +
        'read again (added): it says nothing of the board. rollback and release come from this service alone',
    ),
  withdrawn: z
    .literal(true)
    .optional()
    .describe('Present where this service withdrew the dataset that said so: not part of the history'),
  fields: z.record(z.string(), fieldChange).describe('What changed, before and after'),
});

/** The result of license_history. */
export const historyResult = z.object({
  ...resultOrigin,
  message: z.string(),
  coverage_start: z.string().describe('Changes are known since the dataset of this date'),
  gaps: z
    .array(historyGap)
    .optional()
    .describe('Changes between the datasets of these two dates are not known; absent when there is no gap'),
  license: compactLicense.nullable().describe('The license as it is now; null when it is not in the dataset'),
  changes: z.array(change).describe('The newest first'),
  truncated: z.literal(true).optional().describe('Present where there are older changes than are listed'),
});

/**
 * The history of a license, for a model, and how its lookup ended.
 *
 * @throws {BadRequestError} saying what to send instead
 */
export async function historyForModel(
  services: { readonly lookups: Lookups; readonly changes: Changes },
  given: Readonly<Record<string, unknown>>,
): Promise<Pick<LicenseHistory, 'outcome'> & { readonly content: z.output<typeof historyResult> }> {
  const { values, note } = readParameters(historyParameters, given);
  const { license_number: number } = values;
  const board = boardByName(values.board ?? '') ?? (await boardOfNumber(services.lookups, number));
  const history = await licenseHistory(services, { board, number });
  const view = viewOf(history.outcome, history);
  const listed = history.changes.slice(0, MAX_CHANGES);
  const content = {
    ...originOf(history),
    message: `${note} ${messageOf(history, ...messages(history, view))}`.trimStart(),
    coverage_start: history.since,
    ...(history.gaps.length > 0 && { gaps: [...history.gaps] }),
    license: view.outcome === 'found' ? compact(view.record) : null,
    changes: listed.map(changeForModel),
    ...(listed.length < history.changes.length && { truncated: true as const }),
  };
  return { outcome: history.outcome, content };
}

/** @throws {BadRequestError} when the number alone does not tell the board */
async function boardOfNumber(lookups: Lookups, number: string): Promise<Board> {
  const { outcome, ...origin } = await lookups.lookUp({ by: 'number', number, businessOnly: false });
  const board = outcome.outcome === 'found' ? boardByName(outcome.record.board) : undefined;
  if (board !== undefined) return board;
  const miss = outcome.outcome === 'none' ? missMessage(outcome, origin.date, 'toolItem') : '';
  throw new BadRequestError(
    messageOf(origin, miss, 'Send board too: the history of a license that was removed is found with it.'),
  );
}

/** A later dataset may say the same: then a change that is not marked says so. */
const WITHDRAWN =
  'Changes marked withdrawn are from datasets that this service withdrew: unless a change without the mark says the ' +
  'same, no later dataset of the State has confirmed them, so do not tell them as the license’s history.';

function messages(history: LicenseHistory, view: View): string[] {
  const { outcome, licenseNumber, changes, since, gaps, date } = history;
  const isSeen = licenseNumber !== undefined;
  return [
    ...sentencesOf(view, 'tool'),
    ...(!isSeen && outcome.outcome === 'none' ? noChangeKnown(outcome, since) : []),
    isSeen && changes.length === 0
      ? `${gaps.length === 0 ? 'Nothing has changed' : 'No change is known'} between the datasets of ${since} and ${date}.`
      : '',
    changes.some(({ withdrawn }) => withdrawn === true) ? WITHDRAWN : '',
    ...gaps.map(({ after, before }) => `Changes between ${after} and ${before} are not known here.`),
    `What happened before ${since} is not known here.`,
  ];
}

function changeForModel({ date, kind, cause, withdrawn, fields }: HistoryChange): z.output<typeof change> {
  return { date, kind, cause, ...(withdrawn === true && { withdrawn }), fields };
}
