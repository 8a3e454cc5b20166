import { cautionsOf } from '../licenses/cautions.ts';
import { daysBetween } from '../licenses/dates.ts';
import { type Endorsement, endorsedLicense, endorsementsOf } from '../licenses/endorsements.ts';
import { EXTRA_DATA_LABELS } from '../licenses/extra-data-labels.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import { licenseLink } from './addresses.ts';
import { plainStatus, statusTags } from './license-status.ts';
import { type Html, html, NOTHING } from './page.ts';
import { fromToday, longDate } from './words.ts';

const NOT_STATED = 'Not stated';

/**
 * How a license stands, of an endorsement after how the license stands that it endorses; then its facts, from the
 * board's action to its endorsements.
 *
 * @param today the date in Ohio, from which the days to the expiry date are counted
 */
export function licenseFacts(record: LicenseRecord, today: string): Html {
  const endorsements = endorsementsOf(record);
  const { sentences } = plainStatus(record, cautionsOf(record, today));
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Board action', boardAction(record)],
    ['Expires', expiry(record, today)],
    ['Holder', record.full_name],
    ['License type', record.license_type ?? NOT_STATED],
    ['License number', record.license_number],
    ['Board', record.board],
    ['Issued', record.issue_date === null ? NOT_STATED : longDate(record.issue_date)],
    ['Place', place(record)],
    [
      'Endorsements',
      endorsements.length === 0 ? undefined : endorsementList(record.board, endorsements, today),
    ],
  ];
  return html`${endorsedFirst(record, today)}
<p class="verdict">${endorsedLicense(record) === undefined ? '' : 'The endorsement itself: '}${statusTags(record, today)} ${sentences.join(' ')}</p>
<dl class="facts main-facts">${facts.map(([name, value]) =>
    value === undefined ? NOTHING : html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

function boardAction({ extra_data: extra }: Pick<LicenseRecord, 'extra_data'>): Html | string {
  const value = extra[EXTRA_DATA_LABELS.boardAction];
  switch ((value ?? '').toUpperCase()) {
    case 'YES':
      return html`<strong>Yes.</strong> The board has acted on this license at some time. The dataset does not say what it ordered; only the board can tell.`;
    case 'NO':
      return 'None is stated.';
    default:
      return value || NOT_STATED;
  }
}

function expiry({ expiry_date: date }: Pick<LicenseRecord, 'expiry_date'>, today: string): string {
  if (date === null) return NOT_STATED;
  return `${longDate(date)} (${fromToday(daysBetween(today, date))})`;
}

function place({ city, state, county }: LicenseRecord): string {
  const parts = [city, county === null ? null : `${county} County`, state].filter((part) => part !== null);
  return parts.length === 0 ? 'Not published' : parts.join(', ');
}

/** Leads with the license that this one endorses: the endorsement alone is no license to practice. */
function endorsedFirst(record: LicenseRecord, today: string): Html {
  const endorsed = endorsedLicense(record);
  if (endorsed === undefined) return NOTHING;
  const { number, standing } = endorsed;
  const link = licenseLink({ board: record.board, license_number: number });
  if (standing === undefined) {
    return html`<p class="endorsed">This is an endorsement of the license ${link}: look at that license, too.</p>`;
  }
  const { sentences } = plainStatus(standing, cautionsOf(standing, today));
  return html`<div class="endorsed"><p>This is an endorsement of the license ${link}, which stands like this:</p>
<p>${statusTags(standing, today)} ${sentences.join(' ')} Expires: ${expiry(standing, today)}. Board action: ${boardAction(standing)}</p></div>`;
}

function endorsementList(board: string, endorsements: readonly Endorsement[], today: string): Html {
  return html`<ul class="usa-list">${endorsements.map(
    ({ number, type, standing }) =>
      html`<li>${licenseLink({ board, license_number: number })}${
        type === undefined ? NOTHING : html`, ${type}`
      } ${statusTags(standing, today)}</li>`,
  )}</ul>`;
}
