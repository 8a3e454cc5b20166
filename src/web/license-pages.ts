import type { Origin } from '../answers/origin.ts';
import { boardActionInWords, NOT_GIVEN, SAMPLE_DATA_NOTICE } from '../answers/words.ts';
import { type Board, boardByCode } from '../licenses/boards.ts';
import { daysBetween, todayInOhio } from '../licenses/dates.ts';
import { type LicenseRecord, licensePath } from '../licenses/license.ts';
import {
  ENDORSED_LICENSE_LABELS,
  EXTRA_DATA_LABELS,
  endorsedLicense,
  endorsedLicenseAttributes,
  endorsementsOf,
} from '../licenses/standing.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/service.ts';
import { licenseLink, searchAddress } from './addresses.ts';
import { history, lastChange, type ShownChange } from './history.ts';
import {
  factList,
  type Html,
  html,
  type PageContext,
  type PageServices,
  publicOrigin,
  redirect,
} from './page.ts';
import { recordForm } from './record-notes.ts';
import { statusTags, verdictBox, verdictOf } from './verdict.ts';
import { fromToday, inWords, longDate, missInWords, properCase } from './words.ts';

export const MAX_NUMBER_LENGTH = 200;

const SHOWN_BY_SEARCH: ReadonlySet<string> = new Set(['ambiguous', 'other_board']);

/** GET /licenses/{board code}/{number}: all information about a license. */
export async function licensePage(ctx: PageContext, services: PageServices): Promise<void> {
  const { sendPage, config } = services;
  const { board: code = '', number = '' } = ctx.params;
  const board = boardByCode(code);
  if (board === undefined || number.length > MAX_NUMBER_LENGTH) return ctx.throw(404);
  const view = await licenseHistory(services, { board, number });
  const { record, outcome } = view;
  ctx.state.outcome = outcome.outcome;
  if (record === undefined) {
    // If several licenses have the number, or only another board has it, the search page shows them.
    if (outcome.outcome === 'none' && SHOWN_BY_SEARCH.has(outcome.reason)) {
      return ctx.redirect(searchAddress({ q: number, board: board.code }));
    }
    ctx.status = 404;
    const title =
      view.licenseNumber === undefined ? 'No license with this number' : `License ${view.licenseNumber}`;
    return sendPage(ctx, { title, origin: view, body: withoutRecord(view, board, number) });
  }
  if (code !== board.code || number !== record.license_number) return redirect(ctx, licensePath(record), 301);
  const body = html`${licenseBody(record, view.changes, todayInOhio())}
<div class="row no-print"><button type="button" data-action="print" hidden>Print</button>
<button class="plain" type="button" data-action="copy" data-text="${summary(record, view, todayInOhio())}" hidden>Copy</button></div>
${recordForm(board.code, record.license_number)}
${history(view.changes, view)}
${boardContact(board)}
<p class="hint">This page: ${publicOrigin(ctx, config)}${licensePath(record)}</p>`;
  const name = properCase(record.full_name);
  return sendPage(ctx, { title: `${name}, ${record.license_number}`, heading: name, origin: view, body });
}

/** The identity and the standing of a license. The page of the license and a saved record share this part. */
export function licenseBody(record: LicenseRecord, changes: readonly ShownChange[], today: string): Html {
  const { license_type: type, license_number: number, board } = record;
  return html`<p>${type !== null && `${type}, `}<strong>${number}</strong>, ${board}</p>
${verdictBox(verdictOf(record, today))}
${licenseFacts(record, changes, today)}`;
}

function withoutRecord(
  { outcome, licenseNumber, changes, ...known }: LicenseHistory,
  board: Board,
  number: string,
): Html {
  if (outcome.outcome !== 'none') return html``;
  // For an unknown number, the button below leads to a search, which shows similar numbers.
  const shown = outcome.reason === 'removed' ? outcome : { ...outcome, didYouMean: [] };
  return html`<p>${missInWords(shown, known.date)}</p>
${licenseNumber === undefined ? html`<p><a class="button" href="${searchAddress({ q: number })}">Search all boards for it</a></p>` : history(changes, known)}
${boardContact(board)}`;
}

/** Attributes that other facts already show. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set([
  ...Object.values(EXTRA_DATA_LABELS),
  ...Object.values(ENDORSED_LICENSE_LABELS),
  ...['Issue Date', 'County', 'ZIP', 'Country'],
]);

/** Attributes that a license may have several times, recognized by the beginning of their labels. */
const GROUPS: readonly { readonly heading: string; readonly labels: RegExp }[] = [
  { heading: 'Endorsements without a number', labels: /^Endorsement / },
  { heading: 'Medical specialties', labels: /^Medical / },
  { heading: 'National certifications', labels: /^National Certification/ },
];

/** Every fact of a license once, then its endorsements, then the groups of repeated attributes. */
function licenseFacts(record: LicenseRecord, changes: readonly ShownChange[], today: string): Html {
  const { board, expiry_date: expires, extra_data: extra, issue_date: issued } = record;
  const until = expires && `${longDate(expires)} (${fromToday(daysBetween(today, expires))})`;
  const endorsed = endorsedLicense(record);
  const attributes = Object.entries(extra).filter(
    ([label, value]) =>
      !SAID_ELSEWHERE.has(label) &&
      !isOfNumberedEndorsement(label, extra) &&
      !(label === 'Effective Date' && value === issued),
  );
  const groups = Map.groupBy(
    attributes.map(([label, value]) => [label, inWords(value)] as const),
    ([label]) => GROUPS.find(({ labels }) => labels.test(label))?.heading,
  );
  return html`${factList([
    ['Expires', until ?? NOT_GIVEN],
    ['Board action', boardActionInWords(record)],
    ['Last change', lastChange(changes)],
    ['Endorses', endorsed && licenseLink({ board, license_number: endorsed.number })],
    ['Issued', issued === null ? NOT_GIVEN : longDate(issued)],
    ['Address', address(record)],
    ...(groups.get(undefined) ?? []),
  ])}
${endorsements(record, today)}${GROUPS.map(({ heading }) => {
  const facts = groups.get(heading);
  return facts && html`\n<section><h2>${heading}</h2>${factList(facts)}</section>`;
})}`;
}

/** Endorsements that have a number. The tags of each include the cautions of the license that it endorses. */
function endorsements(record: LicenseRecord, today: string): Html | undefined {
  const numbered = endorsementsOf(record).filter(({ number }) => number !== undefined);
  if (numbered.length === 0) return undefined;
  const { board } = record;
  // If a license has no primary status, its raw status is only the sub-status.
  const [status = '', ...sub] = (record.raw_status ?? '').split(' - ');
  const ofLicense = endorsedLicenseAttributes(record, { status, subStatus: sub.join(' - ') });
  return html`<section><h2>Endorsements</h2>
<ul>${numbered.map(({ number, type, standing }) => {
    const extra_data = { ...standing.extra_data, ...ofLicense };
    return html`<li>${licenseLink({ board, license_number: number ?? '' })}${type && `, ${type}`} ${statusTags({ ...standing, extra_data }, today)}</li>`;
  })}</ul></section>`;
}

/** Whether an attribute belongs to an endorsement with a number. Such an endorsement has its own page. */
function isOfNumberedEndorsement(label: string, extra: Readonly<Record<string, string>>): boolean {
  const [, n] = /^Endorsement .* (\d+)$/.exec(label) ?? [];
  return n !== undefined && Object.hasOwn(extra, `Endorsement Number ${n}`);
}

/** `1 Main St, Dayton, OH 45415, Montgomery County`. The country is shown only outside the United States. */
function address({ city, state, county, extra_data: extra }: LicenseRecord): string {
  const attributes = new Map(Object.entries(extra));
  const country = attributes.get('Country') ?? '';
  const parts = [
    properCase(attributes.get(EXTRA_DATA_LABELS.street) ?? ''),
    properCase(city ?? ''),
    [state, attributes.get('ZIP')].filter(Boolean).join(' '),
    county === null ? '' : `${properCase(county)} County`,
    /^united states$/i.test(country) ? '' : properCase(country),
  ];
  return parts.filter(Boolean).join(', ') || NOT_GIVEN;
}

/** The text that the Copy button puts on the clipboard. */
function summary(record: LicenseRecord, { date, isSampleData, publicUrl }: Origin, today: string): string {
  const { full_name: name, license_type: type, license_number: number, board, expiry_date: expires } = record;
  return [
    `${name}, ${type ?? 'license'} ${number}, ${board}`,
    verdictOf(record, today).sentences.join(' '),
    `Status: ${record.raw_status ?? NOT_GIVEN}`,
    `Expires: ${expires ?? NOT_GIVEN}`,
    `Board action: ${boardActionInWords(record)}`,
    `${isSampleData ? `${SAMPLE_DATA_NOTICE} Data` : 'State of Ohio data'} dated ${date}, read ${today}; the board is the authority.`,
    publicUrl && publicUrl + licensePath(record),
  ]
    .filter(Boolean)
    .join('\n');
}

/** The State's own license lookup for all boards. It is the primary source. */
const STATE_LOOKUP = 'https://elicense.ohio.gov/oh_verifylicense';

const ANY_BOARD = { name: 'issuing board', website: '' };

/** Names the board that is the authority on a license, and how to reach it. */
export function boardContact({ name, website }: Pick<Board, 'name' | 'website'> = ANY_BOARD): Html {
  return html`<section><h2>The authority</h2>
<p>Before you decide, check with the ${name}${website && html` (<a href="${website}" rel="noreferrer">${new URL(website).host}</a>)`} or in the State’s own lookup, <a href="${STATE_LOOKUP}" rel="noreferrer">elicense.ohio.gov</a>.</p></section>`;
}
