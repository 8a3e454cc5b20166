import { z } from 'zod';
import meaningsJson from '../../data/status-meanings.json' with { type: 'json' };
import type { LicenseRecord } from '../licenses/license-record.ts';
import { type Html, html } from './page.ts';

/** How a status is colored. The words beside it say the same. */
const TONES = ['good', 'caution', 'bad', 'neutral'] as const;
type Tone = (typeof TONES)[number];

const meaning = z.strictObject({ tone: z.enum(TONES).optional(), meaning: z.string() });
const meanings = z.record(z.string(), meaning).transform((byLabel) => new Map(Object.entries(byLabel)));
const MEANINGS = z.strictObject({ primary: meanings, sub: meanings }).parse(meaningsJson);

/** A license's status in plain words. */
export interface PlainStatus {
  /** The authoritative label. */
  readonly label: string;
  readonly tone: Tone;
  /** What it means, a sentence each. */
  readonly sentences: readonly string[];
}

type StatusFields = Pick<LicenseRecord, 'status' | 'raw_status' | 'expiry_date'>;

const ASK_THE_BOARD = 'Ask the board what this status means.';

/** @param today the date in Ohio: an active license whose expiry date has passed needs caution */
export function plainStatus(
  { status, raw_status: raw, expiry_date: expiry }: StatusFields,
  today: string,
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
  const hasExpired = expiry !== null && expiry < today;
  const isActive = status === 'ACTIVE';
  const tone = isUnknown ? 'neutral' : (sub?.tone ?? primary.tone ?? 'neutral');
  return {
    label: raw,
    tone: isActive && hasExpired && tone === 'good' ? 'caution' : tone,
    sentences: [
      ...(primary === undefined ? [] : [primary.meaning]),
      ...(sub === undefined ? [] : [sub.meaning]),
      ...(isUnknown ? [ASK_THE_BOARD] : []),
      ...(isActive && hasExpired
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

/** The status as words on its color. */
export function statusTag({ label, tone }: PlainStatus): Html {
  return html`<span class="status ${tone}">${label}</span>`;
}
