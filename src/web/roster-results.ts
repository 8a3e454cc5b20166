import { raw } from 'hono/html';
import { sentencesOf } from '../answers/view.ts';
import {
  missMessage,
  ONLY_MATCH_BY_NAME,
  type RosterSummary,
  recordSentences,
  summaryInWords,
} from '../answers/words.ts';
import { numberKey } from '../licenses/fold.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import type { Miss } from '../licenses/lookup.ts';
import type { RowFields } from '../licenses/row-lookup.ts';
import { ENDORSED_LICENSE_LABELS, EXTRA_DATA_LABELS } from '../licenses/status.ts';
import { type ListRow, ROW_NEEDS, type SavedRecordOf } from '../records/saved-records.ts';
import type { RosterResult } from '../rosters/roster.ts';
import { licenseLink, recordAddress, searchAddress } from './addresses.ts';
import { NOT_STATED, statusTags } from './license-facts.ts';
import { dataTable, type Html, html, NOTHING } from './page.ts';
import { counted, longDate, properCase, shortDate } from './words.ts';

/** What is stored and shown of a license's extra data: what its cautions depend on. */
const STANDING_LABELS: ReadonlySet<string> = new Set([
  EXTRA_DATA_LABELS.boardAction,
  EXTRA_DATA_LABELS.endorsedLicense,
  ...Object.values(ENDORSED_LICENSE_LABELS),
]);

type Need = ListRow['need'];
type RowLicense = ListRow['licenses'][number];

function rowLicense(license: LicenseRecord): RowLicense {
  const { board, license_number, full_name, license_type, status, raw_status } = license;
  const { expiry_date, issue_date, extra_data } = license;
  const standing = Object.entries(extra_data).filter(
    ([label]) => STANDING_LABELS.has(label) || label.startsWith('Endorsement '),
  );
  return {
    ...{ board, license_number, full_name, license_type, status, raw_status },
    ...{ expiry_date, issue_date },
    extra_data: Object.fromEntries(standing),
  };
}

/** A row of a list, by what its columns mean. */
export interface SentRow {
  /** As a spreadsheet numbers it. */
  readonly number: number;
  readonly fields: RowFields;
}

/** A row beside what was found for it. */
export function listRow({ view, suggestionsOmitted }: RosterResult, { number, fields }: SentRow): ListRow {
  const row = { row: number, fields, licenses: view.records.map(rowLicense), near: [] };
  switch (view.outcome) {
    case 'found': {
      const { record, foundBy, origin } = view;
      // The tags beside it say the others.
      const cautions = record.cautions.filter((caution) => caution === 'name_mismatch');
      const sentences = recordSentences(record, { cautions, notes: record.notes }, origin.today);
      return {
        ...row,
        need: view.isClear ? 'clear' : 'attention',
        ...(record.name_match !== undefined && { name_match: record.name_match }),
        note: [...(foundBy === 'name' ? [ONLY_MATCH_BY_NAME] : []), ...sentences].join(' '),
      };
    }
    case 'ambiguous':
      return { ...row, need: 'attention', note: sentencesOf(view, 'page').join(' ') };
    case 'invalid':
      return { ...row, need: 'invalid', note: inPlainWords(view.detail) };
    case 'not_found':
      return { ...row, need: 'not_found', ...missed(view.miss, suggestionsOmitted, view.origin.date) };
  }
}

/** The lookup names its fields; a row has columns. */
function inPlainWords(detail: string): string {
  return detail.replace(
    /^(license_number|last_name|first_name|business_name|license_type|status|city|county) /,
    (field) => `The ${field.replace('_', ' ')}`,
  );
}

function missed(miss: Miss, suggestionsOmitted: boolean, date: string) {
  const { request, reason, didYouMean } = miss;
  const isUnknownNumber = request.by === 'number' && reason === 'unknown';
  const said = missMessage(isUnknownNumber ? { ...miss, didYouMean: [] } : miss, longDate(date), 'page');
  const similar =
    request.by !== 'number' && didYouMean.length > 0 ? ` Similar names: ${didYouMean.join('; ')}.` : '';
  const omitted = suggestionsOmitted ? ' Look it up alone to get suggestions.' : '';
  return { note: `${said}${similar}${omitted}`, near: isUnknownNumber ? [...didYouMean] : [] };
}

/** How many rows ended in each way. Rows of which several licenses fit count as found, with something to look at. */
export function summaryOf(rows: readonly ListRow[]): RosterSummary {
  const count = (need: Need) => rows.filter((row) => row.need === need).length;
  const clear = count('clear');
  return {
    found: clear + count('attention'),
    clear,
    ambiguous: 0,
    not_found: count('not_found'),
    invalid: count('invalid'),
  };
}

const HEADINGS: Readonly<Record<Need, string>> = {
  attention: 'Need attention',
  not_found: 'Not found',
  invalid: 'Not understood',
  clear: 'Clear',
};

const EXPLAINED: Readonly<Record<Need, string>> = {
  attention: 'Found, with something that you must know; or several licenses fit.',
  not_found:
    'That does not mean that nobody is licensed: check the number, the spelling and the board, and ask the issuing board.',
  invalid: 'These rows were not looked up. Correct them in your list, and check it again.',
  clear: 'Active until a date to come, no board action is given, and the name fits where one was sent.',
};

/** A browser cannot go back to the answer of a form without sending the form again. */
const NEW_TAB = raw(' target="_blank" rel="noopener"');

/** The rows under a heading for each need, problems first, what was sent beside what was found. */
export function rowSections(rows: readonly ListRow[], today: string): Html {
  const sections = ROW_NEEDS.map((need) => [need, rows.filter((row) => row.need === need)] as const);
  const filled = sections.filter(([, { length }]) => length > 0);
  return html`${
    filled.length > 1
      ? html`<nav class="no-print" aria-label="Sections"><ul class="list-sections">${filled.map(([need, { length }]) => html`<li><a href="#${need}">${HEADINGS[need]} (${length})</a></li>`)}</ul></nav>`
      : NOTHING
  }<p class="usa-hint no-print">Licenses open in a new tab, so that this list stays.</p>${filled.map(
    ([need, ofNeed]) => html`
<section id="${need}"><h2>${HEADINGS[need]}: ${counted(ofNeed.length, 'row')}</h2>
<p class="usa-hint">${EXPLAINED[need]}</p>
${rowTable(need, ofNeed, today)}</section>`,
  )}`;
}

function rowTable(need: Need, rows: readonly ListRow[], today: string): Html {
  const caption = html`<span class="usa-sr-only">What was sent beside what was found</span>`;
  const hasLicenses = need === 'attention' || need === 'clear';
  const hasNotes = rows.some(({ note }) => note !== '');
  const columns = [
    'Row',
    'You sent',
    ...(hasLicenses ? ['Found', 'Status', 'Expires'] : []),
    ...(hasNotes ? ['Note'] : []),
  ];
  return dataTable(
    'usa-table--borderless cards list-rows',
    caption,
    columns,
    rows.map((row) => [
      String(row.row),
      sentCell(row.fields),
      ...(hasLicenses ? foundCells(row, today) : []),
      ...(hasNotes ? [noteCell(row)] : []),
    ]),
  );
}

/** What was sent for whom. */
export function sentCell(fields: RowFields): Html {
  const { license_number: number, name, last_name, first_name, business_name, board, reference } = fields;
  const parts = [last_name, first_name].filter((part) => part !== undefined).join(', ');
  const lines = [parts || (name ?? business_name), number, board, reference];
  return html`${lines
    .filter((line) => line !== undefined)
    .map((line, at) => (at === 0 ? html`<b>${line}</b>` : html`<br>${line}`))}`;
}

function foundCells({ licenses, name_match: nameMatch }: ListRow, today: string): (Html | string)[] {
  const [only, another] = licenses;
  if (only === undefined) return ['', '', ''];
  if (another === undefined) {
    return [
      html`<b>${properCase(only.full_name)}</b><br>${licenseLink(only, NEW_TAB)}`,
      statusTags(only, today, nameMatch),
      expiry(only),
    ];
  }
  return [
    html`${licenses.map((license) => html`<p>${properCase(license.full_name)}<br>${licenseLink(license, NEW_TAB)} ${statusTags(license, today)}</p>`)}`,
    '',
    '',
  ];
}

/** How a row ended, in one cell. */
export function endCell({ need, licenses, name_match: nameMatch }: ListRow, today: string): Html {
  return html`<b>${need === 'attention' ? 'Needs attention' : HEADINGS[need]}</b>${licenses.map(
    (license) =>
      html`<p>${properCase(license.full_name)}, ${licenseLink(license, NEW_TAB)}<br>${statusTags(license, today, nameMatch)} ${
        license.expiry_date === null ? '' : `until ${expiry(license)}`
      }</p>`,
  )}`;
}

function expiry({ expiry_date: date }: RowLicense): string {
  return date === null ? NOT_STATED : shortDate(date);
}

function noteCell({ note, near, fields, name_match: nameMatch }: ListRow): Html {
  const number = fields.license_number ?? '';
  const isZeroLost = near.some((each) => isWithoutZeros(number, each));
  return html`${nameMatch === false ? html`<strong>${note}</strong>` : note}${
    near.length === 0
      ? NOTHING
      : html` Did you mean ${near.map(
          (each, at) =>
            html`${at === 0 ? '' : ' or '}<a href="${searchAddress({ q: each })}"${NEW_TAB}>${each}</a>`,
        )}?${isZeroLost ? ' Spreadsheets drop the zeros at the start of a number.' : ''}`
  }`;
}

/** Whether one number is the other without the zeros at its start. */
function isWithoutZeros(typed: string, existing: string): boolean {
  const [key, whole] = [numberKey(typed), numberKey(existing)];
  return key.length < whole.length && key !== '' && whole.replace(/^0+/, '') === key;
}

/** What a saved list showed, and the button that checks the same rows again. */
export function savedListBody(code: string, { rows, today }: SavedRecordOf<'list'>): Html {
  return html`<form class="no-print margin-y-205" action="${recordAddress(code)}" method="post"><button class="usa-button" type="submit">Run again</button> <span class="usa-hint display-block margin-top-05">Checks the same rows in today’s dataset, and shows whose status, expiry date, name or board action has changed since.</span></form>
${rowSections(rows, today)}`;
}

/** The title of a saved list. */
export function savedListTitle({ rows }: SavedRecordOf<'list'>): string {
  return summaryInWords(summaryOf(rows));
}
