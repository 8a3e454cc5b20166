import { z } from 'zod';
import meaningsJson from '../../data/status-meanings.json' with { type: 'json' };
import { CAUTION_WORDS, endorsementWords, NOTE_WORDS } from '../answers/words.ts';
import { daysBetween } from '../licenses/dates.ts';
import {
  type Caution,
  cautionsOf,
  disciplineOf,
  endorsedLicense,
  endorsementsToTell,
  type Note,
  notesOf,
  type StandingFields,
} from '../licenses/standing.ts';
import { type Html, html, NOTHING } from './page.ts';
import { fromToday, longDate } from './words.ts';

/** How a status is colored, the better first. The words and a shape say the same. `bad` is discipline alone. */
const TONES = ['good', 'caution', 'neutral', 'ended', 'bad'] as const;
type Tone = (typeof TONES)[number];

/** Shapes tell the tones apart where there are no colors. */
const SHAPES: Readonly<Record<Tone, string>> = {
  ...{ good: '✓', caution: '!', neutral: '?', ended: '–', bad: '✕' },
};

const meaning = z.strictObject({ tone: z.enum(TONES).optional(), meaning: z.string() });
const meanings = z.record(z.string(), meaning).transform((byLabel) => new Map(Object.entries(byLabel)));
const MEANINGS = z.strictObject({ primary: meanings, sub: meanings }).parse(meaningsJson);

/** The tone of a status, and what it means: nothing where it says all, or is not known. */
function statusOf({ status, raw_status: raw }: StandingFields, cautions: readonly Caution[]) {
  const primary = MEANINGS.primary.get(status ?? '');
  const subLabel = status === null || raw === null ? raw : raw.slice(status.length + ' - '.length);
  const sub = MEANINGS.sub.get(subLabel?.toUpperCase() ?? '');
  const isKnown = primary !== undefined && (!subLabel || sub !== undefined);
  const tone = isKnown ? (sub?.tone ?? primary.tone ?? 'neutral') : 'neutral';
  // Active and Inactive say all.
  const said = [sub?.meaning ?? '', /ACTIVE$/.test(status ?? '') ? '' : (primary?.meaning ?? '')];
  return {
    isKnown,
    tone: tonedBy(tone, cautions),
    meaning: isKnown ? (said.find((text) => text !== '') ?? '') : '',
  };
}

/** Nothing with a caution is good; an ended license on which the board has acted is not like one that was given up. */
function tonedBy(tone: Tone, cautions: readonly Caution[]): Tone {
  if (tone === 'good') return cautions.length > 0 ? 'caution' : 'good';
  return tone === 'ended' && cautions.includes('board_action') ? 'bad' : tone;
}

/** The standing of a license in a sentence or two, the reason of its color among them. */
export interface Verdict {
  readonly tone: Tone;
  readonly sentences: readonly string[];
  readonly cautions: readonly Caution[];
}

type Reason = (license: StandingFields) => string;

/** What the sentence of the standing says, or that of the endorsed license, or a tag of the name. */
const saidElsewhere = () => '';

/** What the sentence of the standing, or the meaning of the status, says of a known status alone. */
function ofUnknown(words: Reason): Reason {
  return (license) => (statusOf(license, []).isKnown ? '' : words(license));
}

const acted = () => 'The board has acted on it: ask what it ordered.';

/** The reasons of cautions where a page says them in other words than the other interfaces do. */
const REASONS: { readonly [Each in Caution]?: Reason } = {
  ...{ name_mismatch: saidElsewhere, not_active: saidElsewhere, sub_status: saidElsewhere },
  endorsed_license: saidElsewhere,
  past_expiry: ofUnknown(({ expiry_date: expired }) => `It expired on ${longDate(expired ?? '')}.`),
  no_expiry_date: ofUnknown(() => 'The State gives no expiry date.'),
  board_action: (license) => (disciplineOf(license)?.subStatus ? ofUnknown(acted) : acted)(license),
  dates_conflict: ({ issue_date: issued }) =>
    `Its dates conflict (issued on ${longDate(issued ?? '')}): ask the board which is right.`,
};

/** @param today the date in Ohio */
export function verdictOf(license: StandingFields, today: string): Verdict {
  const cautions = cautionsOf(license, today);
  const own = ownVerdict(license, today, cautions);
  const endorsed = endorsedLicense(license);
  if (endorsed === undefined) return own;
  const of = `the license that it endorses, ${endorsed.number}`;
  if (endorsed.standing === undefined) {
    return { ...own, sentences: [...own.sentences, `Look at ${of}, too.`] };
  }
  const other = ownVerdict(endorsed.standing, today, cautionsOf(endorsed.standing, today));
  return {
    tone: TONES[Math.max(TONES.indexOf(own.tone), TONES.indexOf(other.tone))] ?? 'neutral',
    sentences: [...own.sentences, `T${of.slice(1)}: ${other.sentences.join(' ')}`],
    cautions,
  };
}

function ownVerdict(license: StandingFields, today: string, cautions: readonly Caution[]): Verdict {
  const { tone, meaning: means } = statusOf(license, cautions);
  const reasons = [
    standingSentence(license, today, cautions),
    means,
    ...cautions.map((caution) => (REASONS[caution] ?? CAUTION_WORDS[caution].sentence)(license)),
    ...endorsementsToTell(license).map((each) => `Look at its endorsement ${endorsementWords(each)}.`),
  ];
  return { tone, cautions, sentences: reasons.filter((sentence) => sentence !== '') };
}

function standingSentence(license: StandingFields, today: string, cautions: readonly Caution[]): string {
  const { status, raw_status: raw, expiry_date: expires } = license;
  if (raw === null) return 'The State gives no status for this license. Ask the board.';
  if (!statusOf(license, cautions).isKnown) return `The State says “${raw}”. Ask the board what that means.`;
  if (status !== 'ACTIVE') return `Not active: ${raw}.`;
  if (expires === null) return `${raw}. The State gives no expiry date: ask the board.`;
  const days = daysBetween(today, expires);
  if (days < 0) return `The State says ${raw}, but it expired on ${longDate(expires)}. Ask the board.`;
  const soon = notesOf(license, today).includes('expires_soon') ? fromToday(days) : '';
  return raw.toUpperCase() === status
    ? `${raw} until ${longDate(expires)}${soon && ` (${soon})`}.`
    : `${raw} (expires ${longDate(expires)}${soon && `, ${soon}`}).`;
}

/** The box of a license's verdict. */
export function verdictBox({ tone, sentences, cautions }: Verdict): Html {
  return html`<section class="verdict ${tone}" data-caution="${cautions.join(' ')}"><h2><span aria-hidden="true">${SHAPES[tone]}</span> ${sentences.join(' ')}</h2></section>`;
}

/**
 * The status of a license as words, shape and color, after a tag for a name that does not fit and before one for each
 * caution and note that the status does not say.
 *
 * @param today the date in Ohio
 * @param nameMatch whether a name sent along with the number is the holder's
 */
export function statusTags(license: StandingFields, today: string, nameMatch?: boolean): Html {
  const cautions = cautionsOf(license, today, nameMatch);
  const { raw_status: raw } = license;
  const label = `${raw ?? 'No status given'}${cautions.includes('past_expiry') ? ', date passed' : ''}`;
  const said = cautions.filter((caution) => CAUTION_WORDS[caution].tag === null);
  const others = cautions
    .filter((caution) => !said.includes(caution))
    .map((caution) => {
      const words = caution === 'endorsed_license' ? endorsedTag(license, today) : CAUTION_WORDS[caution].tag;
      return tag('caution', [caution], words ?? '');
    });
  // A name that does not fit is the first of the cautions.
  const [mismatch, rest] =
    nameMatch === false ? [html`${others[0] ?? NOTHING} `, others.slice(1)] : [NOTHING, others];
  const notes = notesOf(license, today).map((note) => tag('neutral', [note], NOTE_WORDS[note].tag, 'i'));
  return html`${mismatch}${tag(statusOf(license, cautions).tone, said, label)}${[...rest, ...notes].map((each) => html` ${each}`)}`;
}

function tag(tone: Tone, said: readonly (Caution | Note)[], words: string, shape = SHAPES[tone]): Html {
  const codes = said.length === 0 ? NOTHING : html` data-caution="${said.join(' ')}"`;
  return html`<span class="status ${tone}"${codes}><span aria-hidden="true">${shape}</span> ${words}</span>`;
}

/** What the tag of an endorsed license says beside its status. */
const ENDORSED_REASONS: { readonly [Each in Caution]?: string } = {
  ...{ past_expiry: 'date passed', no_expiry_date: 'no expiry date', board_action: 'board action' },
};

function endorsedTag(license: StandingFields, today: string): string {
  const { number, standing } = endorsedLicense(license) ?? {};
  const cautions = standing === undefined ? [] : cautionsOf(standing, today);
  const reasons = cautions.flatMap((caution) => ENDORSED_REASONS[caution] ?? []);
  return `License ${number ?? ''}: ${[standing?.raw_status ?? 'no status given', ...reasons].join(', ')}`;
}
