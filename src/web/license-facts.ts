import { z } from 'zod';
import meaningsJson from '../../data/status-meanings.json' with { type: 'json' };
import type { Board } from '../licenses/boards.ts';
import {
  type Caution,
  cautionsOf,
  type Endorsement,
  endorsedLicense,
  endorsementsOf,
} from '../licenses/cautions.ts';
import { daysBetween } from '../licenses/dates.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import { ENDORSED_LICENSE_LABELS, EXTRA_DATA_LABELS, type StandingFields } from '../licenses/status.ts';
import { licenseLink } from './addresses.ts';
import { factList, type Html, html, NOTHING } from './page.ts';
import { fromToday, inWords, longDate } from './words.ts';

/** How a status is colored. The words beside it say the same. */
const TONES = ['good', 'caution', 'bad', 'neutral'] as const;
type Tone = (typeof TONES)[number];

const meaning = z.strictObject({ tone: z.enum(TONES).optional(), meaning: z.string() });
const meanings = z.record(z.string(), meaning).transform((byLabel) => new Map(Object.entries(byLabel)));
const MEANINGS = z.strictObject({ primary: meanings, sub: meanings }).parse(meaningsJson);

/** A license's status in plain words. */
interface PlainStatus {
  /** The authoritative label, and whether an active license is past its expiry date. */
  readonly label: string;
  readonly tone: Tone;
  /** What it means, a sentence each. */
  readonly sentences: readonly string[];
}

const ASK_THE_BOARD = 'Ask the board what this status means.';

/** @param cautions those of the license: with any, its status is never shown as good */
export function plainStatus(
  { status, raw_status: raw }: Pick<StandingFields, 'status' | 'raw_status'>,
  cautions: readonly Caution[],
): PlainStatus {
  if (raw === null) {
    return {
      label: 'Not stated',
      tone: 'neutral',
      sentences: ['The State’s dataset does not state a status.', ASK_THE_BOARD],
    };
  }
  const primary = status === null ? undefined : MEANINGS.primary.get(status);
  const subLabel = subStatusOf(raw, status);
  const sub = subLabel === undefined ? undefined : MEANINGS.sub.get(subLabel.toUpperCase());
  const isUnknown = primary === undefined || (subLabel !== undefined && sub === undefined);
  const hasExpired = cautions.includes('past_expiry');
  const tone = isUnknown ? 'neutral' : (sub?.tone ?? primary.tone ?? 'neutral');
  return {
    label: hasExpired ? `${raw} – date passed` : raw,
    tone: tone === 'good' && cautions.length > 0 ? 'caution' : tone,
    sentences: [
      ...(primary === undefined ? [] : [primary.meaning]),
      ...(sub === undefined ? [] : [sub.meaning]),
      ...(isUnknown ? [ASK_THE_BOARD] : []),
      ...(hasExpired
        ? ['Its expiry date has passed although the State lists it as active. Ask the board.']
        : []),
    ],
  };
}

/** `Active - Probation` → `Probation`; a license without a primary status has the sub-status alone. */
function subStatusOf(raw: string, status: string | null): string | undefined {
  if (status === null) return raw;
  return raw.length === status.length ? undefined : raw.slice(status.length + ' - '.length);
}

/** Shapes tell the tones apart where there are no colors. */
const SHAPES: Readonly<Record<Tone, string>> = { good: '✓', caution: '!', bad: '✕', neutral: '?' };

/** The cautions that the words of the status say. */
const SAID_BY_STATUS: ReadonlySet<Caution> = new Set(['not_active', 'sub_status', 'past_expiry']);

/**
 * The status of a license as words, shape and color, followed by a tag for each caution that it does not say.
 *
 * @param today the date in Ohio
 * @param nameMatch whether a name sent along with the number is the holder's
 */
export function statusTags(license: StandingFields, today: string, nameMatch?: boolean): Html {
  const cautions = cautionsOf(license, today, nameMatch);
  const said = cautions.filter((caution) => SAID_BY_STATUS.has(caution));
  const { label, tone } = plainStatus(license, cautions);
  const others = cautions.filter((caution) => !SAID_BY_STATUS.has(caution));
  return html`${tag(tone, said, label)}${others.map(
    (caution) => html` ${tag('caution', [caution], tagWords(caution, license, today))}`,
  )}`;
}

function tag(tone: Tone, cautions: readonly Caution[], words: string): Html {
  const codes = cautions.length === 0 ? NOTHING : html` data-caution="${cautions.join(' ')}"`;
  return html`<span class="status ${tone}"${codes}><span aria-hidden="true">${SHAPES[tone]}</span> ${words}</span>`;
}

function tagWords(caution: Caution, license: StandingFields, today: string): string {
  if (caution === 'name_mismatch') return 'Name does not match';
  if (caution === 'board_action') return 'Board action';
  const standing = endorsedLicense(license)?.standing;
  if (standing === undefined) return 'Endorsed license';
  const cautions = cautionsOf(standing, today);
  const action = cautions.includes('board_action') ? ', board action' : '';
  return `Endorsed license: ${plainStatus(standing, cautions).label}${action}`;
}

export const NOT_STATED = 'Not stated';

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

/** The State's own lookup of all boards, which is primary-source. */
const STATE_LOOKUP = 'https://elicense.ohio.gov/oh_verifylicense';

/** Who the authority is on a license and how to reach it. */
export function boardContact({ name, website }: Board): Html {
  return html`<section><h2>The authority</h2>
<p>The ${name} is the authority on its licenses. Ask it before a decision that depends on the answer.</p>
<ul class="usa-list">${website === undefined ? NOTHING : html`<li><a href="${website}" rel="noreferrer">${new URL(website).host}</a>, the board’s website</li>`}<li><a href="${STATE_LOOKUP}" rel="noreferrer">elicense.ohio.gov</a>, the State’s own license lookup</li></ul></section>`;
}
