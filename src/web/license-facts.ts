import { z } from 'zod';
import meaningsJson from '../../data/status-meanings.json' with { type: 'json' };
import { boardActionInWords, CAUTION_WORDS, NOTE_WORDS } from '../answers/words.ts';
import type { Board } from '../licenses/boards.ts';
import { type Caution, cautionsOf, endorsedLicense, endorsementsOf, notesOf } from '../licenses/cautions.ts';
import { daysBetween } from '../licenses/dates.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import {
  ENDORSED_LICENSE_LABELS,
  EXTRA_DATA_LABELS,
  hasBoardAction,
  type StandingFields,
} from '../licenses/status.ts';
import { licenseLink } from './addresses.ts';
import { factList, type Html, html, NOTHING } from './page.ts';
import { fromToday, inWords, longDate, properCase } from './words.ts';

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

/**
 * The status of a license as words, shape and color, followed by a tag for each caution that it does not say, and for each
 * note.
 *
 * @param today the date in Ohio
 * @param nameMatch whether a name sent along with the number is the holder's
 */
export function statusTags(license: StandingFields, today: string, nameMatch?: boolean): Html {
  const cautions = cautionsOf(license, today, nameMatch);
  const said = cautions.filter((caution) => CAUTION_WORDS[caution].tag === null);
  const { label, tone } = plainStatus(license, cautions);
  const others = cautions.filter((caution) => CAUTION_WORDS[caution].tag !== null);
  return html`${tag(tone, said, label)}${others.map(
    (caution) => html` ${tag('caution', [caution], tagWords(caution, license, today))}`,
  )}${notesOf(license, today).map(
    (note) => html` <span class="status neutral" data-note="${note}">${NOTE_WORDS[note].tag}</span>`,
  )}`;
}

function tag(tone: Tone, cautions: readonly Caution[], words: string): Html {
  const codes = cautions.length === 0 ? NOTHING : html` data-caution="${cautions.join(' ')}"`;
  return html`<span class="status ${tone}"${codes}><span aria-hidden="true">${SHAPES[tone]}</span> ${words}</span>`;
}

function tagWords(caution: Caution, license: StandingFields, today: string): string {
  const { tag } = CAUTION_WORDS[caution];
  const standing = caution === 'endorsed_license' ? endorsedLicense(license)?.standing : undefined;
  if (standing === undefined) return tag ?? '';
  const cautions = cautionsOf(standing, today);
  const action = cautions.includes('board_action') ? ', board action' : '';
  return `${tag}: ${plainStatus(standing, cautions).label}${action}`;
}

export const NOT_STATED = 'Not stated';

/** What the page is about: the type, the number and the board of a license. */
export function licenseIdentity({ license_type: type, license_number: number, board }: LicenseRecord): Html {
  return factList(
    [
      ['License type', type ?? NOT_STATED],
      ['License number', number],
      ['Board', board],
    ],
    'identity',
  );
}

/**
 * The verdict: the standing of a license; of an endorsement, after the standing of the license that it endorses. The
 * endorsement alone is no license to practice.
 *
 * @param today the date in Ohio, from which the days to the expiry date are counted
 */
export function licenseVerdict(record: LicenseRecord, today: string): Html {
  const cautions = cautionsOf(record, today);
  const endorsed = endorsedLicense(record);
  if (endorsed === undefined) return verdict(record, cautions, today);
  const { number, standing } = endorsed;
  const link = licenseLink({ board: record.board, license_number: number });
  if (standing === undefined) {
    return html`<p>This is an endorsement of the license ${link}: look at that license, too.</p>
${verdict(record, cautions, today)}`;
  }
  return html`${verdict(standing, cautionsOf(standing, today), today, html`<span class="of">The license that this one endorses, ${link}: </span>`)}
${verdict(record, cautions, today, html`<span class="of">This endorsement: </span>`)}`;
}

/** @param of whose verdict it is, where there are two */
function verdict(
  license: StandingFields,
  cautions: readonly Caution[],
  today: string,
  of: Html = NOTHING,
): Html {
  const { label, tone, sentences } = plainStatus(license, cautions);
  const notes = notesOf(license, today);
  const codes = html`${cautions.length === 0 ? NOTHING : html` data-caution="${cautions.join(' ')}"`}${
    notes.length === 0 ? NOTHING : html` data-note="${notes.join(' ')}"`
  }`;
  return html`<section class="verdict ${tone}"${codes}><h2>${of}<span aria-hidden="true">${SHAPES[tone]}</span> ${label}</h2>
<p>${[
    ...sentences,
    ...cautions.flatMap((caution) =>
      caution === 'no_expiry_date' || caution === 'dates_conflict'
        ? [CAUTION_WORDS[caution].sentence(license)]
        : [],
    ),
    ...notes.map((note) => NOTE_WORDS[note].sentence(license, today)),
  ].join(' ')}</p>
${factList(
  [
    ['Expires', expiry(license, today)],
    ['Board action', boardActionFact(license)],
  ],
  'verdict-facts',
)}</section>`;
}

function boardActionFact(license: StandingFields): Html | string {
  const words = boardActionInWords(license);
  if (!hasBoardAction(license)) return words;
  return html`<strong>${words}.</strong> The board has acted on this license at some time. The dataset does not say what it ordered; only the board can tell.`;
}

function expiry({ expiry_date: date }: Pick<StandingFields, 'expiry_date'>, today: string): string {
  if (date === null) return NOT_STATED;
  return `${longDate(date)} (${fromToday(daysBetween(today, date))})`;
}

/** Attributes that the verdict, the address, the endorsements or another fact say. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set([
  EXTRA_DATA_LABELS.boardAction,
  EXTRA_DATA_LABELS.endorsedLicense,
  EXTRA_DATA_LABELS.street,
  ...Object.values(ENDORSED_LICENSE_LABELS),
  'Issue Date',
  'County',
  'ZIP',
  'Country',
]);

/** The attributes that come in numbers, by the beginning of their labels. */
const GROUPS: readonly { readonly heading: string; readonly labels: RegExp }[] = [
  { heading: 'Endorsements without a number', labels: /^Endorsement / },
  { heading: 'Medical specialties', labels: /^Medical / },
  { heading: 'National certifications', labels: /^National Certification/ },
];

/** Buttons that a script shows: a summary to paste elsewhere, the browser's own dialog to share, and print. */
export function licenseButtons(record: LicenseRecord, date: string, today: string): Html {
  const { full_name: name, license_type: type, license_number: number, board, expiry_date: expires } = record;
  const { number: endorsedNumber, standing: endorsed } = endorsedLicense(record) ?? {};
  const summary = [
    `${name}, ${type ?? 'license'} ${number}, ${board}`,
    `Status: ${plainStatus(record, cautionsOf(record, today)).label}`,
    `Expires: ${expires ?? NOT_STATED}`,
    `Board action: ${boardActionInWords(record)}`,
    ...(endorsed === undefined
      ? []
      : [
          `Endorsed license ${endorsedNumber}: ${endorsed.raw_status ?? NOT_STATED}, expires ${endorsed.expiry_date ?? NOT_STATED}, board action ${boardActionInWords(endorsed)}`,
        ]),
    `Dataset of the State of Ohio of ${date}; the board is the authority.`,
  ];
  return html`<button class="usa-button usa-button--outline" type="button" data-action="copy" data-text="${summary.join('\n')}" data-done="Copied" hidden>Copy</button>
<button class="usa-button usa-button--outline" type="button" data-action="share" hidden>Share</button>
<button class="usa-button usa-button--outline" type="button" data-action="print" hidden>Print</button>`;
}

/** Every fact that the verdict does not say, each once; then the endorsements, and the attributes that come in numbers. */
export function licenseFacts(record: LicenseRecord, today: string): Html {
  const { board, extra_data: extra, issue_date: issued } = record;
  const endorsements = endorsementsOf(record).flatMap(({ number, ...each }) =>
    number === undefined ? [] : [{ ...each, number }],
  );
  const attributes = Object.entries(extra)
    .filter(([label]) => !SAID_ELSEWHERE.has(label) && !isOfNumberedEndorsement(label, extra))
    .map(([label, value]) => [label, inWords(value)] as const);
  const groups = Map.groupBy(
    attributes,
    ([label]) => GROUPS.find(({ labels }) => labels.test(label))?.heading,
  );
  return html`${factList(
    [
      ['Issued', issued === null ? NOT_STATED : longDate(issued)],
      ['Address', address(record)],
      ...(groups.get(undefined) ?? []),
    ],
    'facts main-facts',
  )}
${
  endorsements.length === 0
    ? NOTHING
    : html`<section><h2>Endorsements</h2>
<ul class="usa-list">${endorsements.map(
        ({ number, type, standing }) =>
          html`<li>${licenseLink({ board, license_number: number })}${
            type === undefined ? NOTHING : html`, ${type}`
          } ${statusTags(standing, today)}</li>`,
      )}</ul></section>`
}${GROUPS.map(({ heading }) => {
  const facts = groups.get(heading);
  return facts === undefined ? NOTHING : html`\n<section><h2>${heading}</h2>${factList(facts)}</section>`;
})}`;
}

/** Whether an attribute is of an endorsement with a number, which has a page of its own. */
function isOfNumberedEndorsement(label: string, extra: Readonly<Record<string, string>>): boolean {
  const [, n] = /^Endorsement .* (\d+)$/.exec(label) ?? [];
  return n !== undefined && Object.hasOwn(extra, `Endorsement Number ${n}`);
}

/** `1 MAIN ST, Dayton, OH 45415, Montgomery County`; the country only where it is another one. */
function address({ city, state, county, extra_data: extra }: LicenseRecord): string {
  const attributes = new Map(Object.entries(extra));
  const country = attributes.get('Country');
  const parts = [
    properCase(attributes.get(EXTRA_DATA_LABELS.street) ?? ''),
    properCase(city ?? ''),
    [state, attributes.get('ZIP')].filter(Boolean).join(' '),
    county === null ? '' : `${properCase(county)} County`,
    country === 'United States' ? '' : country,
  ];
  return parts.filter(Boolean).join(', ') || NOT_STATED;
}

/** The State's own lookup of all boards, which is primary-source. */
const STATE_LOOKUP = 'https://elicense.ohio.gov/oh_verifylicense';

/** Who the authority is on a license and how to reach it. */
export function boardContact({ name, website }: Board): Html {
  return html`<section><h2>The authority</h2>
<p>The ${name} is the authority on its licenses. Ask it before a decision that depends on the answer.</p>
<ul class="usa-list">${website === undefined ? NOTHING : html`<li><a href="${website}" rel="noreferrer">${new URL(website).host}</a>, the board’s website</li>`}<li><a href="${STATE_LOOKUP}" rel="noreferrer">elicense.ohio.gov</a>, the State’s own license lookup</li></ul></section>`;
}
