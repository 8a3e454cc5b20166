import { NAME_DOES_NOT_MATCH } from '../licenses/cautions.ts';
import { notFoundDetail } from '../licenses/not-found.ts';
import type { RosterResult, RosterSummary } from '../rosters/roster.ts';
import { licenseLink } from './addresses.ts';
import { plainStatus, statusTag } from './license-status.ts';
import { type Html, html, NOTHING, type Origin } from './page.ts';
import { rosterForm } from './roster-form.ts';
import { count, counted, longDate, shortDate } from './words.ts';

/** A list's answer. */
interface AnsweredRoster {
  readonly summary: RosterSummary;
  readonly results: readonly RosterResult[];
  readonly origin: Origin;
}

const OUTCOMES: Readonly<Record<RosterResult['outcome'], string>> = {
  found: 'Found',
  ambiguous: 'Several fit',
  not_found: 'Not found',
  invalid: 'Not understood',
};

/** The summary and the table of a list's answer, with a button that sends the list again for a CSV file. */
export function rosterResults(
  { summary, results, origin }: AnsweredRoster,
  sent: { readonly text: string; readonly board: string },
  today: string,
): Html {
  return html`<ul class="summary">${Object.entries(summary).map(
    ([outcome, number]) => html`<li><strong>${count(number)}</strong> ${label(outcome)}</li>`,
  )}</ul>
<form class="no-print" action="/roster" method="post" enctype="multipart/form-data"><textarea class="sent" name="roster" aria-hidden="true" tabindex="-1" readonly>${sent.text}</textarea><input type="hidden" name="board" value="${sent.board}"><input type="hidden" name="format" value="csv"><button class="usa-button usa-button--outline" type="submit">Download as CSV</button></form>
<table class="usa-table usa-table--borderless cards results"><caption>${counted(results.length, 'row')} <span class="source">State of Ohio dataset of ${longDate(origin.date)}</span></caption>
<thead><tr><th scope="col">Row</th><th scope="col">Result</th><th scope="col">License</th><th scope="col">Name</th><th scope="col">Status</th><th scope="col">Expires</th><th scope="col">Note</th></tr></thead>
<tbody>${results.map((result) => row(result, origin.date, today))}</tbody></table>
<div class="no-print"><h2>Check another list</h2>
${rosterForm('', sent.board)}</div>`;
}

function label(outcome: string): string {
  return (
    Object.entries(OUTCOMES)
      .find(([name]) => name === outcome)?.[1]
      .toLowerCase() ?? outcome
  );
}

interface Cells {
  readonly license?: Html;
  readonly name?: string;
  readonly status?: Html;
  readonly expires?: string;
  readonly note?: Html | string;
}

function row(result: RosterResult, date: string, today: string): Html {
  const {
    license = NOTHING,
    name = '',
    status = NOTHING,
    expires = '',
    note = '',
  } = cells(result, date, today);
  const reference = result.reference ?? String(result.index + 1);
  return html`
<tr><th scope="row" data-label="Row">${reference}</th><td data-label="Result">${OUTCOMES[result.outcome]}</td><td data-label="License">${license}</td><td data-label="Name">${name}</td><td data-label="Status">${status}</td><td data-label="Expires">${expires}</td><td data-label="Note">${note}</td></tr>`;
}

function cells(result: RosterResult, date: string, today: string): Cells {
  switch (result.outcome) {
    case 'found': {
      const { record, nameMatch, foundBy } = result;
      return {
        license: licenseLink(record),
        name: record.full_name,
        status: statusTag(plainStatus(record, today)),
        expires: record.expiry_date === null ? 'Not stated' : shortDate(record.expiry_date),
        note:
          nameMatch === false
            ? html`<strong>${NAME_DOES_NOT_MATCH}</strong>`
            : foundBy === 'name'
              ? 'The only one that fits: compare it.'
              : '',
      };
    }
    case 'ambiguous':
      return {
        license: html`${result.matches.map((record) => html`${licenseLink(record)} `)}`,
        note: `${result.truncated ? 'More than ' : ''}${counted(result.matches.length, 'license')} fit. Add the number, or more of the name.`,
      };
    case 'not_found': {
      const near = result.reason.didYouMean;
      return {
        note: `${notFoundDetail(result.reason, date)}${near.length > 0 && result.reason.outcome === 'no_match' ? ` Similar names: ${near.join(', ')}.` : ''}`,
      };
    }
    case 'invalid':
      return { note: result.detail };
  }
}
