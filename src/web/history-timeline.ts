import type { ChangeCause, ChangeKind, HistoryChange } from '../changes/change.ts';
import type { HistoryGap } from '../changes/feed.ts';
import { type Html, html, NOTHING } from './page.ts';
import { fieldLabel, inWords, longDate } from './words.ts';

/** A change of a license, as far as a page shows it. */
export type ShownChange = Pick<HistoryChange, 'date' | 'kind' | 'cause' | 'fields' | 'withdrawn'>;

type FieldChange = HistoryChange['fields'][string];

/** What is said of a change that the State did not make. */
const CAUSES: Readonly<Record<Exclude<ChangeCause, 'data' | 'rejected_row'>, string>> = {
  rollback: 'This service went back to an earlier dataset. The board did nothing.',
  release: 'A new version of this service reads the State’s data differently. The board did nothing.',
};

/** What came between is not known: the license may be another one when its row can be read again. */
const UNREADABLE = 'The State’s row could not be read on that day.';
const READABLE_AGAIN =
  'The State’s row can be read again. What the board did while it could not be read is not known here.';

function causeSentence({ cause, kind }: ShownChange): string | undefined {
  if (cause === 'data') return undefined;
  if (cause !== 'rejected_row') return CAUSES[cause];
  return kind === 'added' ? READABLE_AGAIN : UNREADABLE;
}

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
  const entries = told(changes);
  return html`${
    entries.length === 0
      ? html`<p>${gaps.length === 0 ? 'Nothing has changed' : 'No change is known'} since ${longDate(since)}.</p>`
      : html`<ol class="timeline">${entries.map(entry)}</ol>`
  }
${gaps.map(({ after, before }) => html`<p class="source">Changes between ${longDate(after)} and ${longDate(before)} are not known here.</p>`)}
<p class="source">What happened before ${longDate(since)} is not known here.</p>`;
}

/**
 * The changes that have an entry. What a rollback undid is told once, at the date of its dataset; the rollback itself is
 * told only where it undid what is no longer known. All others keep their order, since each goes on from the one before.
 */
function told(changes: readonly ShownChange[]): readonly ShownChange[] {
  const entries = changes.flatMap((change, at) => {
    if (change.withdrawn === true) return [];
    return change.cause === 'rollback' ? withoutUndone(change, changes.slice(at + 1)) : [change];
  });
  const said = new Set<string>();
  for (const change of changes) {
    // A rollback that was undone said nothing that the State has not said before.
    if (change.withdrawn !== true || change.cause === 'rollback') continue;
    const sentence = withdrawnSentence(change);
    if (said.has(sentence)) continue;
    said.add(sentence);
    const earlier = entries.findIndex(({ date }) => date < change.date);
    entries.splice(earlier < 0 ? entries.length : earlier, 0, change);
  }
  return entries;
}

/** What a rollback changed beside the changes right before it that it has undone; nothing where those are all. */
function withoutUndone(rollback: ShownChange, before: readonly ShownChange[]): ShownChange[] {
  const end = before.findIndex(({ withdrawn }) => withdrawn !== true);
  const undone = end < 0 ? before : before.slice(0, end);
  if (undone.length === 0) return [rollback];
  if (rollback.kind !== 'changed') return [];
  const names = new Set(undone.flatMap(({ fields }) => Object.keys(fields)));
  const rest = Object.entries(rollback.fields).filter(([name]) => !names.has(name));
  return rest.length === 0 ? [] : [{ ...rollback, fields: Object.fromEntries(rest) }];
}

function entry(change: ShownChange): Html {
  const { date, withdrawn } = change;
  const sentences = withdrawn === true ? [withdrawnSentence(change)] : changeSentences(change);
  const reason = causeSentence(change);
  return html`
<li${withdrawn === true ? html` class="withdrawn"` : NOTHING}><time datetime="${date}">${longDate(date)}</time>${sentences.map((sentence) => html`<p>${sentence}</p>`)}${
    reason === undefined ? NOTHING : html`<p class="source">${reason}</p>`
  }</li>`;
}

function changeSentences({ kind, fields }: ShownChange): readonly (string | undefined)[] {
  return kind === 'changed' ? Object.entries(withoutTwins(fields)).map(fieldSentence) : [KINDS[kind]];
}

function withdrawnSentence({ date, kind, fields }: ShownChange): string {
  const dataset = `A dataset of ${longDate(date)} that this service withdrew`;
  if (kind === 'added') return `${dataset} had the license.`;
  if (kind === 'removed') return `${dataset} did not have the license.`;
  const said = Object.entries(withoutTwins(fields)).map(
    ([name, { after, erased }]) =>
      `${fieldLabel(name)} ${erased === true ? 'no longer published' : shown(after)}`,
  );
  return `${dataset} said: ${said.join('; ')}.`;
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
