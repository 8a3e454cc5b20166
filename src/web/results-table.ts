import type { LicenseRecord } from '../licenses/license-record.ts';
import { licenseLink } from './addresses.ts';
import { statusTags } from './license-status.ts';
import { type Html, html, type Origin } from './page.ts';
import { counted, longDate, shortDate } from './words.ts';

/** The licenses as one table for each board. On a phone a row becomes a card. */
export function resultTables(records: readonly LicenseRecord[], origin: Origin, today: string): Html {
  const boards = [...Map.groupBy(records, ({ board }) => board)];
  return html`${boards.map(([board, ofBoard]) => boardTable(board, ofBoard, origin, today))}`;
}

function boardTable(board: string, records: readonly LicenseRecord[], { date }: Origin, today: string): Html {
  return html`<table class="usa-table usa-table--borderless cards results">
<caption>${board}: ${counted(records.length, 'license')} <span class="source">State of Ohio dataset of ${longDate(date)}</span></caption>
<thead><tr><th scope="col">Number</th><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Status</th><th scope="col">Expires</th><th scope="col">Place</th></tr></thead>
<tbody>${records.map((record) => row(record, today))}</tbody>
</table>`;
}

function row(record: LicenseRecord, today: string): Html {
  const { expiry_date: expiry } = record;
  return html`
<tr><th scope="row" data-label="Number">${licenseLink(record)}</th><td data-label="Name">${record.full_name}</td><td data-label="Type">${record.license_type ?? 'Not stated'}</td><td data-label="Status">${statusTags(record, today)}</td><td data-label="Expires">${expiry === null ? 'Not stated' : shortDate(expiry)}</td><td data-label="Place">${placeOf(record) || 'Not stated'}</td></tr>`;
}

/** `COLUMBUS, OH`; empty where the State does not say it. */
function placeOf({ city, state }: Pick<LicenseRecord, 'city' | 'state'>): string {
  return [city, state].filter((part) => part !== null).join(', ');
}
