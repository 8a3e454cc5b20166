import { z } from 'zod';
import meaningsJson from '../../data/status-meanings.json' with { type: 'json' };
import { type Caution, cautionsOf, endorsedLicense } from '../licenses/cautions.ts';
import type { StandingFields } from '../licenses/status.ts';
import { type Html, html, NOTHING } from './page.ts';

/** How a status is colored. The words beside it say the same. */
const TONES = ['good', 'caution', 'bad', 'neutral'] as const;
type Tone = (typeof TONES)[number];

const meaning = z.strictObject({ tone: z.enum(TONES).optional(), meaning: z.string() });
const meanings = z.record(z.string(), meaning).transform((byLabel) => new Map(Object.entries(byLabel)));
const MEANINGS = z.strictObject({ primary: meanings, sub: meanings }).parse(meaningsJson);

/** A license's status in plain words. */
export interface PlainStatus {
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

/** Tells the tones apart where there are no colors. */
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
  const tags = cautions.filter((caution) => !SAID_BY_STATUS.has(caution));
  return html`<span class="status ${tone}"${cautionCodes(said)}><span aria-hidden="true">${SHAPES[tone]}</span> ${label}</span>${tags.map(
    (caution) =>
      html` <span class="status caution"${cautionCodes([caution])}><span aria-hidden="true">!</span> ${tagWords(caution, license, today)}</span>`,
  )}`;
}

function cautionCodes(cautions: readonly Caution[]): Html {
  return cautions.length === 0 ? NOTHING : html` data-caution="${cautions.join(' ')}"`;
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
