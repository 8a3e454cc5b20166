import type { Board } from '../licenses/boards.ts';
import { cautionsOf, type Endorsement, endorsedLicense, endorsementsOf } from '../licenses/cautions.ts';
import { daysBetween } from '../licenses/dates.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import { ENDORSED_LICENSE_LABELS, EXTRA_DATA_LABELS } from '../licenses/status.ts';
import { licenseLink } from './addresses.ts';
import { plainStatus, statusTags } from './license-status.ts';
import { cardTable, factList, type Html, html, NOTHING, type Origin } from './page.ts';
import { counted, fromToday, inWords, longDate, shortDate } from './words.ts';

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
  const facts = factList(
    [
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
    ],
    'facts main-facts',
  );
  return html`${endorsedFirst(record, today)}
<p class="verdict">${endorsedLicense(record) === undefined ? '' : 'The endorsement itself: '}${statusTags(record, today)} ${sentences.join(' ')}</p>
${facts}`;
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
    return html`<p class="endorsed border-left-05 border-primary-darker padding-left-2 margin-bottom-2">This is an endorsement of the license ${link}: look at that license, too.</p>`;
  }
  const { sentences } = plainStatus(standing, cautionsOf(standing, today));
  return html`<div class="endorsed border-left-05 border-primary-darker padding-left-2 margin-bottom-2"><p>This is an endorsement of the license ${link}, which stands like this:</p>
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

/** Shown elsewhere on the page. */
const SHOWN_APART: ReadonlySet<string> = new Set([
  EXTRA_DATA_LABELS.boardAction,
  EXTRA_DATA_LABELS.endorsedLicense,
  ...Object.values(ENDORSED_LICENSE_LABELS),
  'Issue Date',
  'County',
]);

/** The groups of attributes, by the beginning of their labels. Those of no group come last. */
const GROUPS: readonly { readonly heading: string; readonly labels: RegExp }[] = [
  { heading: 'Address', labels: /^(ZIP|County|Country|Street Address|Parcel )/ },
  { heading: 'Endorsements without a number', labels: /^Endorsement / },
  { heading: 'Medical specialties', labels: /^Medical / },
  { heading: 'National certifications', labels: /^National Certification/ },
];

/** Whether an attribute is of an endorsement with a number, which has a page of its own. */
function hasOwnPage(label: string, extra: Readonly<Record<string, string>>): boolean {
  const [, n] = /^Endorsement .* (\d+)$/.exec(label) ?? [];
  return n !== undefined && Object.hasOwn(extra, `Endorsement Number ${n}`);
}

const OTHER = 'Other details';

/** Every other attribute of a license, grouped under readable labels. */
export function extraDataGroups(extra: Readonly<Record<string, string>>): Html {
  const shown = Object.entries(extra).filter(
    ([label]) => !SHOWN_APART.has(label) && !hasOwnPage(label, extra),
  );
  const groups = Map.groupBy(
    shown,
    ([label]) => GROUPS.find(({ labels }) => labels.test(label))?.heading ?? OTHER,
  );
  const headings = [OTHER, ...GROUPS.map(({ heading }) => heading)];
  return html`${headings.map((heading) => group(heading, groups.get(heading) ?? []))}`;
}

function group(heading: string, attributes: readonly (readonly [string, string])[]): Html {
  if (attributes.length === 0) return NOTHING;
  const facts = attributes.map(([label, value]) => [label, inWords(value)] as const);
  return html`
<section><h2>${heading}</h2>${factList(facts)}</section>`;
}

/** The licenses as one table for each board. On a phone a row becomes a card. */
export function resultTables(records: readonly LicenseRecord[], origin: Origin, today: string): Html {
  const boards = [...Map.groupBy(records, ({ board }) => board)];
  return html`${boards.map(([board, ofBoard]) => boardTable(board, ofBoard, origin, today))}`;
}

const COLUMNS = ['Number', 'Name', 'Type', 'Status', 'Expires', 'Place'];

function boardTable(board: string, records: readonly LicenseRecord[], { date }: Origin, today: string): Html {
  return cardTable(
    'usa-table--borderless cards results',
    html`${board}: ${counted(records.length, 'license')} <span class="source">State of Ohio dataset of ${longDate(date)}</span>`,
    COLUMNS,
    records.map((record) => [
      licenseLink(record),
      record.full_name,
      record.license_type ?? NOT_STATED,
      statusTags(record, today),
      record.expiry_date === null ? NOT_STATED : shortDate(record.expiry_date),
      // `COLUMBUS, OH`
      [record.city, record.state].filter((part) => part !== null).join(', ') || NOT_STATED,
    ]),
  );
}

/** The State's own lookup of all boards, which is primary-source. */
const STATE_LOOKUP = 'https://elicense.ohio.gov/oh_verifylicense';

/** Who the authority is on a license and how to reach it. */
export function boardContact({ name, website }: Board): Html {
  return html`<section><h2>The authority</h2>
<p>The ${name} is the authority on its licenses. Ask it before a decision that depends on the answer.</p>
<ul class="usa-list">${website === undefined ? NOTHING : html`<li><a href="${website}" rel="noreferrer">${new URL(website).host}</a>, the board’s website</li>`}<li><a href="${STATE_LOOKUP}" rel="noreferrer">elicense.ohio.gov</a>, the State’s own license lookup</li></ul></section>`;
}
