import { type ChangeCause, type ChangeKind, type HistoryChange, isPlaceField } from '../changes/change.ts';
import type { HistoryGap } from '../changes/feed.ts';
import { type Html, html } from './page.ts';
import { fieldLabel, inWords, longDate } from './words.ts';

/** The fields of a change that a page shows. */
export type ShownChange = Pick<
  HistoryChange,
  'date' | 'kind' | 'cause' | 'fields' | 'withdrawn' | 'renumbered_from' | 'renumbered_to'
>;

/** The sentence for a change that the State did not make. */
const CAUSES: Readonly<Record<ChangeCause, string | undefined>> = {
  data: undefined,
  rejected_row: 'The State’s row could not be read on that day.',
  rollback: 'This service went back to an earlier dataset. The board did not do this.',
  release: 'A new version of this service reads the State’s data differently. The data is the same.',
};

/** Changes during the gap are unknown. The row may even describe another license when it can be read again. */
const READABLE_AGAIN =
  'The State’s row can be read again. Changes while it could not be read are not known here.';

const KINDS: Readonly<Record<ChangeKind, string>> = {
  added: 'The license appeared in the dataset.',
  removed: 'The license was no longer in the dataset.',
  changed: '',
};

/** Pairs of fields with the same information. A page shows the first of each pair. */
const TWINS: readonly (readonly [string, string])[] = [
  ['raw_status', 'status'],
  ['issue_date', 'extra_data.Issue Date'],
  ['county', 'extra_data.County'],
];

/** The period for which changes are known. */
interface Known {
  /** The run date of the first dataset. `date` is the run date of the dataset that the page shows. */
  readonly since: string;
  readonly date: string;
  readonly gaps: readonly HistoryGap[];
}

/** The changes of a license between two datasets in words, newest first. */
export function history(changes: readonly ShownChange[], { since, date, gaps }: Known): Html {
  const entries = netChanges(changes);
  const between = `between the State’s data of ${longDate(since)} and of ${longDate(date)}`;
  const none = gaps.length === 0 ? `No change ${between}.` : `No change is known ${between}.`;
  return html`<section><h2>History</h2>
${entries.length > 0 ? html`<ul>${entries.map(entry)}</ul>` : since < date && html`<p>${none}</p>`}
${gaps.map((gap) => html`<p class="hint">Changes between ${longDate(gap.after)} and ${longDate(gap.before)} are not known here.</p>`)}
<p class="hint">Changes before ${longDate(since)} are not known here.</p></section>`;
}

/** The last change of a license in words; `undefined` if none is known. */
export function lastChange(changes: readonly ShownChange[]): string | undefined {
  const [last] = netChanges(changes);
  return last && [`${longDate(last.date)}:`, ...sentencesOf(last)].join(' ');
}

function netChanges(changes: readonly ShownChange[]): ShownChange[] {
  return joined(changes).flatMap((change, at, all) => netChange(change, all.slice(at + 1)));
}

/** When the State rewrites a license number, merges the removal and the addition into one change. */
function joined(changes: readonly ShownChange[]): ShownChange[] {
  return changes.flatMap((change, at): ShownChange[] => {
    const [later, earlier] = [changes[at - 1], changes[at + 1]];
    if (change.renumbered_from !== undefined && later?.renumbered_to !== undefined) return [];
    if (change.renumbered_to === undefined || earlier?.renumbered_from === undefined) return [change];
    const old = new Map(Object.entries(change.fields));
    const now = new Map(Object.entries(earlier.fields));
    const fields = [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
      const [before = null, after = null] = [old.get(name)?.before, now.get(name)?.after];
      // A removal does not include place fields, so they cannot be compared.
      return before === after || isPlaceField(name) ? [] : [[name, { before, after }] as const];
    });
    return [{ ...change, kind: 'changed', fields: Object.fromEntries(fields) }];
  });
}

/** Drops a change that a rollback undid, and the parts of the rollback that only undid changes. */
function netChange(change: ShownChange, before: readonly ShownChange[]): ShownChange[] {
  if (change.withdrawn === true) return [];
  if (change.cause !== 'rollback') return [change];
  const end = before.findIndex(({ withdrawn }) => withdrawn !== true);
  const undone = end < 0 ? before : before.slice(0, end);
  if (undone.length === 0) return [change];
  const names = new Set(undone.flatMap(({ fields }) => Object.keys(fields)));
  const rest = Object.entries(change.fields).filter(([name]) => !names.has(name));
  return change.kind === 'changed' && rest.length > 0
    ? [{ ...change, fields: Object.fromEntries(rest) }]
    : [];
}

function entry(change: ShownChange): Html {
  const { date } = change;
  return html`
<li><strong><time datetime="${date}">${longDate(date)}</time></strong>${sentencesOf(change).map((sentence) => html`<p>${sentence}</p>`)}</li>`;
}

/** One sentence per changed field, and the cause if the board did not make the change. */
function sentencesOf({ kind, cause, fields }: ShownChange): string[] {
  const reason = cause === 'rejected_row' && kind === 'added' ? READABLE_AGAIN : CAUSES[cause];
  const sentences =
    kind === 'changed' ? Object.entries(withoutTwins(fields)).map(fieldSentence) : [KINDS[kind]];
  if (reason === undefined) return sentences;
  // The dataset still has a row for the license, but the row is unreadable. Do not say that the license was removed.
  return cause === 'rejected_row' && kind !== 'changed' ? [reason] : [...sentences, reason];
}

/** Leaves out each field that repeats the information of another one. */
export function withoutTwins<Change>(fields: Readonly<Record<string, Change>>): Record<string, Change> {
  const twins = new Set(TWINS.flatMap(([shown, twin]) => (Object.hasOwn(fields, shown) ? [twin] : [])));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !twins.has(name)));
}

function fieldSentence([name, change]: [string, HistoryChange['fields'][string]]): string {
  const label = fieldLabel(name);
  const { before, after } = change;
  if (change.erased === true) return `${label} changed. The State no longer publishes the values.`;
  if (before === null) return `${label}: now ${inWords(after ?? '')}.`;
  if (after === null) return `${label}: no longer given (it was ${inWords(before)}).`;
  return `${label} changed from ${inWords(before)} to ${inWords(after)}.`;
}
