import { raw } from 'hono/html';
import { NEEDS, type Need, needOf, sentencesOf, type View } from '../answers/view.ts';
import { NEED_WORDS, ONLY_MATCH_BY_NAME, recordSentences } from '../answers/words.ts';
import { numberKey } from '../licenses/fold.ts';
import { type LicenseRecord, licensePath } from '../licenses/license.ts';
import type { RowFields } from '../licenses/row-lookup.ts';
import {
  boardAction,
  ENDORSED_LICENSE_LABELS,
  EXTRA_DATA_LABELS,
  endorsedLicense,
} from '../licenses/standing.ts';
import type { ListRow } from '../records/saved-records.ts';
import type { RosterResult } from '../rosters/roster.ts';
import { MAX_ITEMS_WITH_SUGGESTIONS } from '../rosters/service.ts';
import { licenseLink, searchAddress } from './addresses.ts';
import { dataTable, type Html, html } from './page.ts';
import { statusInWords, statusTags, verdictOf } from './verdict.ts';
import { count, counted, missInWords, properCase, shortDate } from './words.ts';

/** The extra data that a list stores and shows: the attributes on which cautions depend. */
const STANDING_LABELS: ReadonlySet<string> = new Set([
  EXTRA_DATA_LABELS.boardAction,
  EXTRA_DATA_LABELS.endorsedLicense,
  ...Object.values(ENDORSED_LICENSE_LABELS),
]);

type RowLicense = ListRow['licenses'][number];

function rowLicense(license: LicenseRecord): RowLicense {
  const { board, license_number, full_name, license_type, status, raw_status } = license;
  const { expiry_date, issue_date } = license;
  const standing = Object.entries(license.extra_data).filter(
    ([label]) => STANDING_LABELS.has(label) || label.startsWith('Endorsement '),
  );
  return {
    ...{ board, license_number, full_name, license_type, status, raw_status, expiry_date, issue_date },
    extra_data: Object.fromEntries(standing),
  };
}

/** A row of a list, with its cells by the meaning of their columns. */
export interface SentRow {
  /** The row number as a spreadsheet shows it. */
  readonly number: number;
  readonly fields: RowFields;
}

type RowResult = Omit<RosterResult, 'index' | 'reference'>;

const NOT_SUGGESTED = `Only the first ${MAX_ITEMS_WITH_SUGGESTIONS} rows not found get suggestions: look this one up by itself.`;

/** A row and the result of its lookup. */
export function listRow({ view, suggestionsOmitted }: RowResult, { number, fields }: SentRow): ListRow {
  const licenses = view.records.map(rowLicense);
  const row = { row: number, fields, need: needOf(view), licenses, near: [] };
  switch (view.outcome) {
    case 'found': {
      const { record, foundBy, origin } = view;
      const cautions = record.cautions.filter((caution) => caution === 'name_mismatch');
      const isPlain = record.cautions.length + record.notes.length === 0;
      const sentences = [
        ...(foundBy === 'name' ? [ONLY_MATCH_BY_NAME] : []),
        ...recordSentences(record, { cautions, notes: [] }, origin.today),
        ...(isPlain ? [] : verdictOf(record, origin.today).sentences),
      ];
      return {
        ...row,
        ...(record.name_match !== undefined && { name_match: record.name_match }),
        note: sentences.join(' '),
      };
    }
    case 'ambiguous':
      return { ...row, note: sentencesOf(view, 'page').join(' ') };
    case 'invalid':
      return { ...row, note: inPlainWords(view.detail) };
    case 'not_found':
      return { ...row, ...missed(view, suggestionsOmitted) };
  }
}

/** Says in the note of a row that an earlier row found the same license: a number may be copied from somebody else. */
export function withRepeatsNoted(rows: readonly ListRow[]): ListRow[] {
  const firstRows = new Map<string, number>();
  return rows.map((row) => {
    const [only, another] = row.licenses;
    if (only === undefined || another !== undefined) return row;
    const link = licensePath(only);
    const first = firstRows.get(link);
    if (first === undefined) firstRows.set(link, row.row);
    return first === undefined
      ? row
      : { ...row, note: `${row.note} Row ${first} has the same license.`.trim() };
  });
}

/** Replaces the name of a lookup field at the beginning of an error with words: `The license number`. */
function inPlainWords(detail: string): string {
  return detail.replace(
    /^(license_number|last_name|first_name|business_name|search_type|license_type|status|city|county) /,
    (field) => `The ${field.replace('_', ' ')}`,
  );
}

type MissView = Extract<View, { outcome: 'not_found' }>;

function missed({ miss, origin }: MissView, isOmitted: boolean): Pick<ListRow, 'note' | 'near'> {
  const { request, reason, didYouMean, ofTheName = [], offered = [] } = miss;
  const [isNumber, isUnknown] = [request.by === 'number', reason === 'unknown'];
  const isOfTheName = isUnknown && ofTheName.length > 0;
  const near = isOfTheName ? ofTheName : didYouMean;
  const licenses = near.flatMap((number) => offered.filter((each) => each.license_number === number));
  const sentences = [
    missInWords(isUnknown ? { ...miss, didYouMean: [] } : miss, origin.date),
    isOfTheName && 'The holder of a similar number has that name.',
    !isNumber && near.length > 0 && `Similar names: ${near.join('; ')}.`,
    ...licenses.map((license) => licenseInWords(license, origin.today)),
    isUnknown && isOmitted && NOT_SUGGESTED,
  ];
  return { note: sentences.filter(Boolean).join(' '), near: isNumber && isUnknown ? [...near] : [] };
}

/** `RN.1: Garcia, Maria, Registered Nurse (RN), Active, board action.` */
function licenseInWords(license: LicenseRecord, today: string): string {
  const { license_number: number, full_name: name, license_type: type } = license;
  const facts = [properCase(name), type ?? [], statusInWords(license, today)];
  return `${number}: ${facts.flat().join(', ')}.`;
}

function rowsOf(rows: readonly ListRow[], need: Need): readonly ListRow[] {
  return rows.filter((row) => row.need === need);
}

/** `6 of 10 need attention` or `All 10 rows are clear`. */
export function listTitle(rows: readonly ListRow[]): string {
  if (rowsOf(rows, 'invalid').length === rows.length) return 'No row could be looked up';
  const toDo = rows.length - rowsOf(rows, 'clear').length;
  if (toDo === 0) return rows.length === 1 ? 'The row is clear' : `All ${count(rows.length)} rows are clear`;
  return `${count(toDo)} of ${count(rows.length)} ${toDo === 1 ? 'needs' : 'need'} attention`;
}

const HEADINGS: Readonly<Record<Need, string>> = { ...NEED_WORDS, attention: 'Look at each of these' };

const EXPLAINED: Readonly<Record<Need, string>> = {
  attention: '',
  not_found:
    'A license may still exist: check the number, the spelling and the board, and ask the issuing board.',
  invalid: 'These rows were not looked up. Correct them in your list, and check it again.',
  clear:
    'Active, not past expiry, no caution in the State’s data; the name matches if one was sent. If the State does not say whether the board has acted, the row says so.',
};

/** Links open a new tab: the browser cannot go back to the result without sending the form again. */
const NEW_TAB = raw(' target="_blank" rel="noopener"');

/** The rows in one section per need, problems first. Each row shows the input next to the result. */
export function rowSections(rows: readonly ListRow[], today: string): Html {
  const filled = NEEDS.filter((need) => rowsOf(rows, need).length > 0);
  return html`${
    filled.length > 2 &&
    html`<nav class="no-print" aria-label="Sections"><ul class="inline">${filled.map((need) => html`<li><a href="#${need}">${HEADINGS[need]} (${rowsOf(rows, need).length})</a></li>`)}</ul></nav>`
  }${filled.map(
    (need) => html`
<section id="${need}"><h2>${HEADINGS[need]}: ${counted(rowsOf(rows, need).length, 'row')}</h2>
${EXPLAINED[need] !== '' && html`<p class="hint">${EXPLAINED[need]}</p>`}
${rowTable(need, rowsOf(rows, need), today)}</section>`,
  )}`;
}

function rowTable(need: Need, rows: readonly ListRow[], today: string): Html {
  const hasLicenses = rows.some(({ licenses }) => licenses.length > 0);
  const hasNotes = rows.some(({ note }) => note !== '');
  const found = hasLicenses ? ['Found', 'Status', 'Expires'] : [];
  return dataTable(
    `${HEADINGS[need]}: what was sent beside what was found`,
    ['Row', 'You sent', ...found, ...(hasNotes ? ['Note'] : [])],
    rows.map((row) => [
      String(row.row),
      sentCell(row.fields),
      ...(hasLicenses ? foundCells(row, today) : []),
      ...(hasNotes ? [noteCell(row)] : []),
    ]),
  );
}

/** The name in a row, as it was sent. */
function sentName({ name, last_name, first_name, business_name }: RowFields): string | undefined {
  const parts = [last_name, first_name].filter((part) => part !== undefined).join(', ');
  return parts || (name ?? business_name);
}

/** The cell that shows the input of a row. */
function sentCell(fields: RowFields): Html {
  const lines = [sentName(fields), fields.license_number, fields.board, fields.reference];
  return html`<div>${lines
    .filter((line) => line !== undefined)
    .map((line, at) => (at === 0 ? html`<b>${line}</b>` : html`<br>${line}`))}</div>`;
}

function foundCells(row: ListRow, today: string): (Html | string)[] {
  const [only, another] = row.licenses;
  if (only === undefined) return ['', '', ''];
  if (another !== undefined) {
    const name = sentName(row.fields) ?? row.fields.license_number;
    const licenses = row.licenses.map(
      (license) =>
        html`<p>${properCase(license.full_name)}<br>${licenseLink(license, undefined, NEW_TAB)} ${statusTags(license, today)}</p>`,
    );
    return [
      html`<div>${licenses}<p><a href="${searchAddress({ q: name })}"${NEW_TAB}>See all matches</a></p></div>`,
      '',
      '',
    ];
  }
  const standings = [only, endorsedLicense(only)?.standing ?? only];
  const saysNothing = row.need === 'clear' && standings.map(boardAction).includes('');
  return [
    html`<div><b>${properCase(only.full_name)}</b><br>${licenseLink(only, undefined, NEW_TAB)}<br>${only.license_type}</div>`,
    html`<div>${statusTags(only, today, row.name_match)}${saysNothing && html`<br><span class="hint">Board action: not given by the State</span>`}</div>`,
    only.expiry_date === null ? 'Not given' : shortDate(only.expiry_date),
  ];
}

function noteCell({ note, near, fields }: ListRow): Html | string {
  if (note === '') return '';
  const number = fields.license_number ?? '';
  const isZeroLost = near.some((each) => isWithoutZeros(number, each));
  const links = near.map(
    (each, at) =>
      html`${at === 0 ? '' : ' or '}<a href="${searchAddress({ q: each })}"${NEW_TAB}>${each}</a>`,
  );
  return html`<div>${note}${near.length > 0 && html` Did you mean ${links}?`}${isZeroLost && ' Spreadsheets drop zeros at the start and the end of a number.'}</div>`;
}

/** Whether `typed` is `existing` without leading zeros or, after a point, without trailing zeros. */
function isWithoutZeros(typed: string, existing: string): boolean {
  const [key, whole] = [numberKey(typed), numberKey(existing)];
  if (key === '' || key.length >= whole.length) return false;
  const isCut = typed.includes('.') && whole.startsWith(key) && /^0+$/.test(whole.slice(key.length));
  return isCut || whole.replace(/^0+/, '') === key;
}
