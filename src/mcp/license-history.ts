import { z } from 'zod';
import { sentencesOf, type View, viewOf } from '../answers/view.ts';
import { missMessage, noChangeKnown } from '../answers/words.ts';
import { historyChange, RENUMBERED } from '../changes/change.ts';
import { historyGap } from '../changes/feed.ts';
import type { Changes } from '../changes/service.ts';
import { type Board, boardByName } from '../licenses/boards.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { type LicenseHistory, type Lookups, licenseHistory } from '../lookup/service.ts';
import type { historyParameters } from './parameters.ts';
import {
  boardActionNotGiven,
  compact,
  compactLicense,
  messageOf,
  originOf,
  resultOrigin,
  type ToolResult,
} from './results.ts';

/** More changes would fill a model's context. */
const MAX_CHANGES = 50;

const change = historyChange.pick({
  ...{ date: true, kind: true, cause: true, fields: true },
  ...RENUMBERED,
  withdrawn: true,
});

/** The result of license_history. */
export const historyResult = z.object({
  ...resultOrigin,
  coverage_start: z.string(),
  gaps: z.array(historyGap).optional(),
  /** The license as it is now; null if it is not in the dataset. */
  license: compactLicense.nullable(),
  /** Newest first. */
  changes: z.array(change),
  truncated: z.literal(true).optional(),
});

/**
 * Answers license_history.
 *
 * @throws {BadRequestError} whose message says what to send instead
 */
export async function historyForModel(
  services: { readonly lookups: Lookups; readonly changes: Changes },
  { license_number: number, board: boardName = '' }: z.output<typeof historyParameters>,
): Promise<ToolResult> {
  const board = boardByName(boardName) ?? (await boardOfNumber(services.lookups, number));
  const history = await licenseHistory(services, { board, number });
  const view = viewOf(history.outcome, history);
  const listed = history.changes.slice(0, MAX_CHANGES);
  const content = {
    ...originOf(history),
    message: messageOf(history, ...messages(history, view)),
    coverage_start: history.since,
    ...(history.gaps.length > 0 && { gaps: [...history.gaps] }),
    license: view.outcome === 'found' ? compact(view.record) : null,
    changes: listed.map((each) => change.parse(each)),
    ...(listed.length < history.changes.length && { truncated: true }),
  };
  return { outcome: history.outcome.outcome, content };
}

/** @throws {BadRequestError} if the number alone does not identify the board */
async function boardOfNumber(lookups: Lookups, number: string): Promise<Board> {
  const { outcome, ...origin } = await lookups.lookUp({ by: 'number', number, businessOnly: false });
  const board = outcome.outcome === 'found' ? boardByName(outcome.record.board) : undefined;
  if (board !== undefined) return board;
  const miss = outcome.outcome === 'none' ? missMessage(outcome, origin.date, 'toolItem') : '';
  throw new BadRequestError(
    messageOf(origin, miss, 'Send board too: the history of a license that was removed is found with it.'),
  );
}

const WITHDRAWN =
  'Changes marked withdrawn are from datasets that this service withdrew. Do not tell them as the license’s history, unless a change without the mark says the same.';

function messages(history: LicenseHistory, view: View): string[] {
  const { outcome, licenseNumber, changes, since, gaps, date } = history;
  const isSeen = licenseNumber !== undefined;
  return [
    ...sentencesOf(view, 'tool'),
    ...(!isSeen && outcome.outcome === 'none' ? noChangeKnown(outcome, since) : []),
    boardActionNotGiven(view.records.map(compact)),
    isSeen ? `${changesInWords(history)} between the datasets of ${since} and ${date}.` : '',
    changes.some(({ withdrawn }) => withdrawn === true) ? WITHDRAWN : '',
    ...gaps.map(({ after, before }) => `Changes between ${after} and ${before} are not known here.`),
    `What happened before ${since} is not known here.`,
  ];
}

function changesInWords({ changes, gaps }: LicenseHistory): string {
  if (changes.length === 0) return gaps.length === 0 ? 'Nothing has changed' : 'No change is known';
  return changes.length === 1 ? '1 change is known' : `${changes.length} changes are known`;
}
