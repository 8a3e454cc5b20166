import { cautionsOf, NAME_DOES_NOT_MATCH } from '../licenses/cautions.ts';
import { numberKey } from '../licenses/fold.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import type { Miss } from '../licenses/lookup.ts';
import { notFoundMessage } from '../licenses/not-found.ts';
import type { SentRow } from '../rosters/list.ts';
import type { RosterResult } from '../rosters/roster.ts';
import { licenseLink, searchAddress } from './addresses.ts';
import { NOT_STATED, statusTags } from './license-facts.ts';
import { dataTable, type Html, html, NOTHING } from './page.ts';
import { counted, longDate, shortDate } from './words.ts';

/** What a row needs, in the order of the page: problems first. */
export const NEEDS = ['attention', 'not_found', 'invalid', 'clear'] as const;
export type Need = (typeof NEEDS)[number];

/** What the page shows of a license. */
export type RowLicense = Pick<
  LicenseRecord,
  'board' | 'license_number' | 'full_name' | 'status' | 'raw_status' | 'expiry_date' | 'extra_data'
>;

/** A row of a list beside what was found for it, as the page shows it. */
export interface ListRow {
  /** Its place in the list, from 1. */
  readonly row: number;
  readonly sent: SentRow;
  readonly need: Need;
  /** The license, or the first of several that fit. */
  readonly licenses: readonly RowLicense[];
  readonly nameMatch?: boolean | undefined;
  /** What to do, or what was searched. */
  readonly note: string;
  /** Numbers that exist and may be meant. */
  readonly near: readonly string[];
}

/**
 * @param date the run date of the dataset that answered
 * @param today the date in Ohio
 */
export function listRow(
  { index, outcome, foundBy, suggestionsOmitted }: RosterResult,
  sent: SentRow,
  date: string,
  today: string,
): ListRow {
  const row = { row: index + 1, sent, licenses: [], near: [] };
  switch (outcome.outcome) {
    case 'found': {
      const { record, nameMatch } = outcome;
      const isClear = cautionsOf(record, today, nameMatch).length === 0;
      const byName = foundBy === 'name' ? 'Found by its name alone: the only one that fits. Compare it.' : '';
      return {
        ...row,
        need: isClear ? 'clear' : 'attention',
        licenses: [record],
        nameMatch,
        note: nameMatch === false ? NAME_DOES_NOT_MATCH : byName,
      };
    }
    case 'several': {
      const more = outcome.truncated ? 'More than ' : '';
      const note = `${more}${counted(outcome.records.length, 'license')} fit. Add the number, or more of the name.`;
      return { ...row, need: 'attention', licenses: outcome.records, note };
    }
    case 'invalid':
      return { ...row, need: 'invalid', note: inPlainWords(outcome.detail) };
    default:
      return { ...row, need: 'not_found', ...missed(outcome, suggestionsOmitted, date) };
  }
}

/** The lookup names its fields; a row has columns. */
function inPlainWords(detail: string): string {
  return detail.replace(
    /^(license_number|last_name|first_name|business_name|license_type|status|city|county) /,
    (field) => `The ${field.replace('_', ' ')}`,
  );
}

function missed(outcome: Miss, suggestionsOmitted: boolean, date: string) {
  const { request, didYouMean } = outcome;
  const isUnknownNumber = request.by === 'number' && outcome.outcome === 'none';
  const said = notFoundMessage(isUnknownNumber ? { ...outcome, didYouMean: [] } : outcome, longDate(date));
  const similar =
    request.by !== 'number' && didYouMean.length > 0 ? ` Similar names: ${didYouMean.join('; ')}.` : '';
  const omitted = suggestionsOmitted ? ' Look it up alone to get suggestions.' : '';
  return { note: `${said}${similar}${omitted}`, near: isUnknownNumber ? didYouMean : [] };
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
  invalid: 'These rows were not looked up. Mend them in your list, and check it again.',
  clear: 'Active, not past its expiry date, no board action, and the name fits where one was sent.',
};

/** The rows under a heading for each need, problems first, what was sent beside what was found. */
export function rowSections(rows: readonly ListRow[], today: string): Html {
  const sections = NEEDS.map((need) => [need, rows.filter((row) => row.need === need)] as const);
  const filled = sections.filter(([, { length }]) => length > 0);
  return html`${
    filled.length > 1
      ? html`<nav class="no-print" aria-label="Sections"><ul class="list-sections">${filled.map(([need, { length }]) => html`<li><a href="#${need}">${HEADINGS[need]} (${length})</a></li>`)}</ul></nav>`
      : NOTHING
  }${filled.map(
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
    'usa-table--borderless cards results list-rows',
    caption,
    columns,
    rows.map((row) => [
      String(row.row),
      sentCell(row.sent),
      ...(hasLicenses ? foundCells(row, today) : []),
      ...(hasNotes ? [noteCell(row)] : []),
    ]),
  );
}

function sentCell({ reference, number, name, board }: SentRow): Html {
  const lines = [name, number, board, reference].filter((line) => line !== undefined);
  return html`${lines.map((line, at) => (at === 0 ? html`<b>${line}</b>` : html`<br>${line}`))}`;
}

function foundCells({ licenses, nameMatch }: ListRow, today: string): (Html | string)[] {
  const [only, another] = licenses;
  if (only === undefined) return ['', '', ''];
  if (another === undefined) {
    return [
      html`<b>${only.full_name}</b><br>${licenseLink(only)}`,
      statusTags(only, today, nameMatch),
      expiry(only),
    ];
  }
  return [
    html`${licenses.map((license) => html`<p>${license.full_name}<br>${licenseLink(license)} ${statusTags(license, today)}</p>`)}`,
    '',
    '',
  ];
}

function expiry({ expiry_date: date }: RowLicense): string {
  return date === null ? NOT_STATED : shortDate(date);
}

function noteCell({ note, near, sent, nameMatch }: ListRow): Html {
  const number = sent.number ?? '';
  const isZeroLost = near.some((each) => isWithoutZeros(number, each));
  return html`${nameMatch === false ? html`<strong>${note}</strong>` : note}${
    near.length === 0
      ? NOTHING
      : html` Did you mean ${near.map(
          (each, at) =>
            html`${at === 0 ? '' : ' or '}<a href="${searchAddress({ by: 'number', number: each })}">${each}</a>`,
        )}?${isZeroLost ? ' Spreadsheets drop the zeros at the start of a number.' : ''}`
  }`;
}

/** Whether one number is the other without the zeros at its start. */
function isWithoutZeros(typed: string, existing: string): boolean {
  const [key, whole] = [numberKey(typed), numberKey(existing)];
  return key.length < whole.length && key !== '' && whole.replace(/^0+/, '') === key;
}
