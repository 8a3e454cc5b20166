import { daysBetween } from '../licenses/dates.ts';
import { EXTRA_DATA_LABELS } from '../licenses/extra-data-labels.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import { licenseLink } from './addresses.ts';
import { plainStatus, statusTag } from './license-status.ts';
import { type Html, html, NOTHING } from './page.ts';
import { fromToday, longDate } from './words.ts';

/** A license that is linked with the one shown: an endorsement of it, or what it endorses. */
export interface LinkedLicense {
  readonly number: string;
  readonly type: string | null;
  readonly status: string | null;
}

const NOT_STATED = 'Not stated';

/**
 * The facts of a license, from the holder to the board's action.
 *
 * @param today the date in Ohio, from which the days to the expiry date are counted
 */
export function licenseFacts(
  record: LicenseRecord,
  endorsements: readonly LinkedLicense[],
  today: string,
): Html {
  const status = plainStatus(record, today);
  const facts: readonly (readonly [string, Html | string | undefined])[] = [
    ['Status', html`${statusTag(status)} ${status.sentences.join(' ')}`],
    ['Board action', boardAction(record)],
    ['Expires', expiry(record, today)],
    ['Holder', record.full_name],
    ['License type', record.license_type ?? NOT_STATED],
    ['License number', record.license_number],
    ['Board', record.board],
    ['Issued', record.issue_date === null ? NOT_STATED : longDate(record.issue_date)],
    ['Place', place(record)],
    ['Endorses', endorsed(record)],
    ['Endorsements', endorsements.length === 0 ? undefined : linked(record.board, endorsements)],
  ];
  return html`<dl class="facts main-facts">${facts.map(([name, value]) =>
    value === undefined ? NOTHING : html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

function boardAction({ extra_data: extra }: LicenseRecord): Html | string {
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

function expiry({ expiry_date: date }: LicenseRecord, today: string): string {
  if (date === null) return NOT_STATED;
  return `${longDate(date)} (${fromToday(daysBetween(today, date))})`;
}

function place({ city, state, county }: LicenseRecord): string {
  const parts = [city, county === null ? null : `${county} County`, state].filter((part) => part !== null);
  return parts.length === 0 ? 'Not published' : parts.join(', ');
}

function endorsed({ board, extra_data: extra }: LicenseRecord): Html | undefined {
  const number = extra[EXTRA_DATA_LABELS.endorsedLicense];
  return number === undefined ? undefined : licenseLink({ board, license_number: number });
}

function linked(board: string, licenses: readonly LinkedLicense[]): Html {
  return html`<ul class="usa-list">${licenses.map(
    ({ number, type, status }) =>
      html`<li>${licenseLink({ board, license_number: number })}${
        type === null ? NOTHING : html`, ${type}`
      }${status === null ? NOTHING : html` (${status})`}</li>`,
  )}</ul>`;
}
