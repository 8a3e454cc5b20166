import { z } from 'zod';
import meaningsJson from '../../data/status-meanings.json' with { type: 'json' };
import {
  actionInWords,
  CAUTION_WORDS,
  endorsementsInWords,
  NOTE_WORDS,
  SENTENCES,
} from '../answers/words.ts';
import { daysBetween } from '../licenses/dates.ts';
import {
  type Caution,
  cautionsOf,
  disciplineOf,
  endorsedLicense,
  type Note,
  notesOf,
  type StandingFields,
} from '../licenses/standing.ts';
import { type Html, html } from './page.ts';
import { fromToday, longDate } from './words.ts';

/** The tones of a status, best first. Words and a shape convey the same. Only discipline is `bad`. */
const TONES = ['good', 'caution', 'neutral', 'ended', 'bad'] as const;
type Tone = (typeof TONES)[number];

/** Shapes distinguish the tones without colors. */
const SHAPES: Record<Tone, string> = { good: '✓', caution: '!', neutral: '?', ended: '–', bad: '✕' };

const meaning = z.strictObject({ tone: z.enum(TONES).optional(), meaning: z.string() });
const meanings = z.record(z.string(), meaning).transform((byLabel) => new Map(Object.entries(byLabel)));
const MEANINGS = z.strictObject({ primary: meanings, sub: meanings }).parse(meaningsJson);

/** The tone and the meaning of a status. The meaning is empty if the status explains itself or is unknown. */
function statusOf({ status, raw_status: raw }: StandingFields, cautions: readonly Caution[]) {
  const primary = MEANINGS.primary.get(status ?? '');
  const subLabel = status === null || raw === null ? raw : raw.slice(status.length + ' - '.length);
  const sub = MEANINGS.sub.get(subLabel?.toUpperCase() ?? '');
  // A sub-status without a primary status can be known by itself.
  const isKnown = (primary !== undefined || status === null) && (!subLabel || sub !== undefined);
  const tone = isKnown ? (sub?.tone ?? primary?.tone ?? 'neutral') : 'neutral';
  // Active and Inactive explain themselves.
  const ofPrimary = /ACTIVE$/.test(status ?? '') ? undefined : primary?.meaning;
  const meaning = isKnown ? (sub?.meaning ?? ofPrimary ?? '') : '';
  return { isKnown, tone: tonedBy(tone, cautions), meaning };
}

/** A license with a caution is never good. An inactive license with a board action is bad. */
function tonedBy(tone: Tone, cautions: readonly Caution[]): Tone {
  if (tone === 'good') return cautions.length > 0 ? 'caution' : 'good';
  return tone !== 'caution' && cautions.includes('board_action') ? 'bad' : tone;
}

/** The standing of a license in one or two sentences, which include the reason for the tone. */
export interface Verdict {
  readonly tone: Tone;
  readonly sentences: readonly string[];
  readonly cautions: readonly Caution[];
}

/** For a caution that another part already explains: the standing, the endorsed license, or a tag. */
const saidElsewhere = () => '';

/** The sentences of cautions that a page words differently from the other interfaces. */
const REASONS: { readonly [Each in Caution]?: (license: StandingFields) => string } = {
  ...{ name_mismatch: saidElsewhere, not_active: saidElsewhere, sub_status: saidElsewhere },
  ...{ past_expiry: saidElsewhere, no_expiry_date: saidElsewhere, endorsed_license: saidElsewhere },
  // The meaning of a disciplinary sub-status already says what the board did.
  board_action: (license) =>
    disciplineOf(license)?.subStatus && statusOf(license, []).isKnown
      ? ''
      : `The ${actionInWords(license)}. Ask the board for details.`,
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
    return { ...own, sentences: [...own.sentences, `Also look at ${of}.`] };
  }
  const other = ownVerdict(endorsed.standing, today, cautionsOf(endorsed.standing, today));
  const isOtherWorse = TONES.indexOf(other.tone) > TONES.indexOf(own.tone);
  const [ofOwn, ofOther] = [own.sentences.join(' '), `T${of.slice(1)}: ${other.sentences.join(' ')}`];
  // The reason for the tone comes first, because many read only the first sentence.
  const isOnlyOther = cautions.join() === 'endorsed_license';
  return {
    tone: tonedBy(isOtherWorse ? other.tone : own.tone, [...cautions, ...other.cautions]),
    sentences: isOtherWorse || isOnlyOther ? [ofOther, `The endorsement itself: ${ofOwn}`] : [ofOwn, ofOther],
    cautions,
  };
}

function ownVerdict(license: StandingFields, today: string, cautions: readonly Caution[]): Verdict {
  const { tone, meaning: means } = statusOf(license, cautions);
  const reasons = [
    standingSentence(license, today, cautions),
    means,
    ...cautions.map((caution) => (REASONS[caution] ?? SENTENCES[caution])(license, today)),
    ...endorsementsInWords(license, today).map(
      ({ name, standing }) => `Look at its endorsement ${name}, too: ${standing}.`,
    ),
  ];
  return { tone, cautions, sentences: reasons.filter((sentence) => sentence !== '') };
}

function standingSentence(license: StandingFields, today: string, cautions: readonly Caution[]): string {
  const { status, raw_status: raw, expiry_date: expires } = license;
  if (raw === null) return 'The State gives no status for this license. Ask the board.';
  if (status === null) return `The State gives no main status, only “${raw}”. Ask the board.`;
  const { isKnown } = statusOf(license, cautions);
  const unknown = `The State says “${raw}”. Ask the board what that means.`;
  if (status !== 'ACTIVE') return isKnown ? `Not active: ${raw}.` : unknown;
  if (expires === null) return `${raw}. The State gives no expiry date: ask the board.`;
  const days = daysBetween(today, expires);
  if (days < 0) return `${raw}, but its expiry date has passed (${longDate(expires)}). Ask the board.`;
  if (!isKnown) return unknown;
  const soon = notesOf(license, today).includes('expires_soon') ? fromToday(days) : '';
  return raw.toUpperCase() === status
    ? `${raw} until ${longDate(expires)}${soon && ` (${soon})`}.`
    : `${raw} (expires ${longDate(expires)}${soon && `, ${soon}`}).`;
}

export function verdictBox({ tone, sentences, cautions }: Verdict): Html {
  return html`<section class="verdict ${tone}" data-caution="${cautions.join(' ')}"><h2><span aria-hidden="true">${SHAPES[tone]}</span> ${sentences.join(' ')}</h2></section>`;
}

/** @param codes the cautions or notes that the tag conveys */
type StatusTag = readonly [tone: Tone, words: string, codes: readonly (Caution | Note)[], shape?: string];

/**
 * The tags of a license: first one for a name mismatch, then the status, then one for each caution and note that the
 * status does not convey.
 */
function tagsOf(license: StandingFields, today: string, nameMatch?: boolean): StatusTag[] {
  const cautions = cautionsOf(license, today, nameMatch);
  const label = `${license.raw_status ?? 'No status given'}${cautions.includes('past_expiry') ? ', past expiry' : ''}`;
  const said = cautions.filter((caution) => CAUTION_WORDS[caution].tag === null);
  const others = cautions
    .filter((caution) => !said.includes(caution))
    .map((caution): StatusTag => {
      const words = caution === 'endorsed_license' ? endorsedTag(license, today) : CAUTION_WORDS[caution].tag;
      return ['caution', words ?? '', [caution]];
    });
  const notes = notesOf(license, today).map(
    (note): StatusTag => ['neutral', NOTE_WORDS[note].tag, [note], 'i'],
  );
  // If the name does not match, `name_mismatch` is the first caution.
  const first = nameMatch === false ? others.splice(0, 1) : [];
  return [...first, [statusOf(license, cautions).tone, label, said], ...others, ...notes];
}

/**
 * The status of a license and its cautions and notes, as words, shapes and colors.
 *
 * @param today the date in Ohio
 * @param nameMatch whether a name sent along with the number is the holder's
 */
export function statusTags(license: StandingFields, today: string, nameMatch?: boolean): Html {
  return html`${tagsOf(license, today, nameMatch).map(([tone, words, codes, shape = SHAPES[tone]], at) => {
    const said = codes.length > 0 && html` data-caution="${codes.join(' ')}"`;
    return html`${at === 0 ? '' : ' '}<span class="status ${tone}"${said}><span aria-hidden="true">${shape}</span> ${words}</span>`;
  })}`;
}

/** The same in words only: `Active, board action`. */
export function statusInWords(license: StandingFields, today: string): string {
  const [status, ...others] = tagsOf(license, today).map(([, words]) => words);
  return [status, ...others.map((words) => words.charAt(0).toLowerCase() + words.slice(1))].join(', ');
}

/** A tag that shows the standing of the endorsed license: `License RN.1: Active, past expiry`. */
function endorsedTag(license: StandingFields, today: string): string {
  const { number, standing } = endorsedLicense(license) ?? {};
  return `License ${number ?? ''}: ${standing === undefined ? 'no status given' : statusInWords(standing, today)}`;
}
