import type { ChangeCause, ChangeKind, StoredChange } from '../changes/change.ts';
import type { HistoryGap } from '../changes/feed-state.ts';
import { fieldLabel } from './field-labels.ts';
import { type Html, html, NOTHING } from './page.ts';
import { inWords, longDate } from './words.ts';

/** A change of a license, as far as a page shows it. */
export type ShownChange = Pick<StoredChange, 'date' | 'kind' | 'cause' | 'fields'>;

type FieldChange = StoredChange['fields'][string];

/** What is said of a change that the State did not make. */
const CAUSES: Readonly<Record<ChangeCause, string | undefined>> = {
  data: undefined,
  rollback: 'This service went back to an earlier dataset. The board did nothing.',
  rejected_row: 'The State’s row could not be read on that day. The board did nothing.',
  release: 'A new version of this service reads the State’s data differently. The board did nothing.',
};

const KINDS: Readonly<Record<ChangeKind, string | undefined>> = {
  added: 'The license appeared in the dataset.',
  removed: 'The license was no longer in the dataset.',
  changed: undefined,
};

/** Fields that say the same twice: the first of each pair is shown. */
const TWINS: readonly (readonly [string, string])[] = [
  ['raw_status', 'status'],
  ['issue_date', 'extra_data.Issue Date'],
  ['county', 'extra_data.County'],
];

/**
 * What happened to a license, the newest first, in words.
 *
 * @param since changes are known since the dataset of this date
 * @param gaps but for those in between
 */
export function historyTimeline(
  changes: readonly ShownChange[],
  since: string,
  gaps: readonly HistoryGap[],
): Html {
  return html`${
    changes.length === 0
      ? html`<p>${gaps.length === 0 ? 'Nothing has changed' : 'No change is known'} since ${longDate(since)}.</p>`
      : html`<ol class="timeline">${changes.map(entry)}</ol>`
  }
${gaps.map(({ after, before }) => html`<p class="source">Changes between ${longDate(after)} and ${longDate(before)} are not known here.</p>`)}
<p class="source">What happened before ${longDate(since)} is not known here.</p>`;
}

function entry({ date, kind, cause, fields }: ShownChange): Html {
  const sentences =
    kind === 'changed' ? Object.entries(withoutTwins(fields)).map(fieldSentence) : [KINDS[kind]];
  const reason = CAUSES[cause];
  return html`
<li><time datetime="${date}">${longDate(date)}</time>${sentences.map((sentence) => html`<p>${sentence}</p>`)}${
    reason === undefined ? NOTHING : html`<p class="source">${reason}</p>`
  }</li>`;
}

/** The fields without those that say what another one says. */
export function withoutTwins<Change>(fields: Readonly<Record<string, Change>>): Record<string, Change> {
  const twins = new Set(TWINS.flatMap(([shown, twin]) => (Object.hasOwn(fields, shown) ? [twin] : [])));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !twins.has(name)));
}

function fieldSentence([name, { before, after, erased }]: [string, FieldChange]): string {
  const label = fieldLabel(name);
  if (erased === true) return `${label} changed. The State no longer publishes the values.`;
  if (before === null) return `${label}: now ${shown(after)}.`;
  if (after === null) return `${label}: no longer stated (it was ${shown(before)}).`;
  return `${label} changed from ${shown(before)} to ${shown(after)}.`;
}

function shown(value: string | null): string {
  if (value === null) return 'not stated';
  return inWords(value);
}
