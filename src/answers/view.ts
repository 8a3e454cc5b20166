import { z } from 'zod';
import DESCRIPTIONS from '../../data/field-descriptions.json' with { type: 'json' };
import { daysBetween } from '../licenses/dates.ts';
import { type LicenseRecord, licenseRecord } from '../licenses/license.ts';
import {
  type InvalidLookup,
  type LookupOutcome,
  type Miss,
  NOT_FOUND_REASONS,
  type NotFoundReason,
} from '../licenses/lookup.ts';
import { CAUTIONS, cautionsOf, NOTES, notesOf } from '../licenses/standing.ts';
import { licenseUrl, type Origin, originBody, originFields } from './origin.ts';
import {
  CAUTION_WORDS,
  missDetail,
  NOTE_WORDS,
  ONLY_MATCH_BY_NAME,
  REASONS,
  recordSentences,
  VOICES,
  type Voice,
} from './words.ts';

const cautions = CAUTIONS.map((code) => `${code} (${CAUTION_WORDS[code].meaning})`).join(', ');
const reasons = NOT_FOUND_REASONS.map((code) => `${code}: ${REASONS[code]}.`).join(' ');
const notes = NOTES.map((code) => `${code} (${NOTE_WORDS[code].meaning})`).join(', ');

/** A license record in the answers of every interface. Dates are `YYYY-MM-DD`; missing values are null. */
export const responseRecord = licenseRecord.extend({
  found: z.literal(true),
  days_until_expiry: z.int().nullable().describe(DESCRIPTIONS.answer.days_until_expiry),
  cautions: z.array(z.enum(CAUTIONS)).describe(`What a reader must not miss, in this order: ${cautions}`),
  notes: z.array(z.enum(NOTES)).describe(`What else a reader should know, in this order: ${notes}`),
  ...originFields,
  name_match: z.boolean().optional().describe(DESCRIPTIONS.answer.name_match),
  name_at_board: z.boolean().optional().describe(DESCRIPTIONS.answer.name_at_board),
  url: z.url().optional().describe(DESCRIPTIONS.answer.url),
});

export type ResponseRecord = z.output<typeof responseRecord>;

/** What an answer says about the name that was sent with the number. */
type NameSent = Pick<Extract<LookupOutcome, { outcome: 'found' }>, 'nameMatch' | 'isNameAtBoard'>;

/** Adds the fields that depend on the day, the publication and the request. */
export function toResponseRecord(
  record: LicenseRecord,
  origin: Pick<Origin, 'date' | 'today' | 'publicUrl'>,
  { nameMatch, isNameAtBoard }: NameSent = {},
): ResponseRecord {
  const { today } = origin;
  const url = licenseUrl(record, origin);
  return {
    found: true,
    license_number: record.license_number,
    full_name: record.full_name,
    board: record.board,
    license_type: record.license_type,
    status: record.status,
    expiry_date: record.expiry_date,
    days_until_expiry: record.expiry_date === null ? null : daysBetween(today, record.expiry_date),
    city: record.city,
    state: record.state,
    raw_status: record.raw_status,
    county: record.county,
    issue_date: record.issue_date,
    extra_data: record.extra_data,
    cautions: cautionsOf(record, today, nameMatch),
    notes: notesOf(record, today),
    ...originBody(origin),
    ...(nameMatch === undefined ? {} : { name_match: nameMatch }),
    ...(isNameAtBoard === undefined ? {} : { name_at_board: isNameAtBoard }),
    ...(url === undefined ? {} : { url }),
  };
}

/** The fields that every interface's answer has for a number that was not found, in addition to the message. */
export const missFacts = z.object({
  /** Why no license was found for the number, as a code. */
  reason: z.enum(NOT_FOUND_REASONS).describe(reasons),
  did_you_mean: z.array(z.string()).describe(DESCRIPTIONS.answer.did_you_mean),
  did_you_mean_name_match: z
    .array(z.boolean())
    .optional()
    .describe(DESCRIPTIONS.answer.did_you_mean_name_match),
  last_in_dataset: z.string().nullable().optional().describe(DESCRIPTIONS.answer.last_in_dataset),
  last_raw_status: z.string().nullable().optional().describe(DESCRIPTIONS.answer.last_raw_status),
});

/** How a license was found: by its number, or as the only match of a name. */
export const FOUND_BY = ['number', 'name'] as const;

interface Viewed {
  readonly origin: Origin;
  /** The license that was found, or the matching licenses if there are several. */
  readonly records: readonly ResponseRecord[];
  /** Whether more licenses match than `records` has. */
  readonly truncated: boolean;
  readonly foundBy: (typeof FOUND_BY)[number];
}

/** The interpreted outcome of a lookup. Interfaces only format it; they do not interpret the outcome again. */
export type View = Viewed &
  (
    | { readonly outcome: 'found'; readonly record: ResponseRecord; readonly isNamePartial: boolean }
    | { readonly outcome: 'ambiguous' }
    | { readonly outcome: 'not_found'; readonly miss: Miss; readonly facts: MissFacts }
    | { readonly outcome: 'invalid'; readonly detail: string }
  );

/** The facts of a miss. A miss by name has no reason. */
export type MissFacts = Omit<z.output<typeof missFacts>, 'reason'> & { readonly reason?: NotFoundReason };

/** Interprets an outcome. @param foundBy what was looked up */
export function viewOf(
  outcome: LookupOutcome | InvalidLookup,
  origin: Origin,
  foundBy: Viewed['foundBy'] = 'number',
): View {
  const from = { origin, foundBy, truncated: false };
  if (outcome.outcome === 'invalid') {
    return { ...from, outcome: 'invalid', records: [], detail: outcome.detail };
  }
  if (outcome.outcome === 'none') {
    return { ...from, outcome: 'not_found', records: [], miss: outcome, facts: factsOf(outcome) };
  }
  if (outcome.outcome === 'several') {
    const records = outcome.records.map((record) => toResponseRecord(record, origin));
    return { ...from, outcome: 'ambiguous', records, truncated: outcome.truncated };
  }
  const record = toResponseRecord(outcome.record, origin, outcome);
  const { isNamePartial = false } = outcome;
  return { ...from, outcome: 'found', record, isNamePartial, records: [record] };
}

function factsOf({ request, reason, didYouMean, ofTheName, left }: Miss): MissFacts {
  return {
    ...(request.by === 'number' && { reason }),
    did_you_mean: [...didYouMean],
    ...(ofTheName && { did_you_mean_name_match: didYouMean.map((number) => ofTheName.includes(number)) }),
    ...left,
  };
}

/** The sentences that explain an answer and say what to do next. */
export function sentencesOf(view: View, voice: Voice): string[] {
  if (view.outcome === 'invalid') return [view.detail];
  if (view.outcome === 'not_found') return [missDetail(view.miss, view.origin, voice)];
  if (view.outcome === 'ambiguous') {
    const more = view.truncated ? 'More than ' : '';
    return [`${more}${view.records.length} licenses ${VOICES[voice].severalMatch}`];
  }
  const told = recordSentences(view.record, view.record, view.origin.today);
  return view.foundBy === 'name' ? [ONLY_MATCH_BY_NAME, ...told] : told;
}

/** What the sender of a list must do with a row: look at it, correct it, or nothing. */
export const NEEDS = ['attention', 'not_found', 'invalid', 'clear'] as const;

export type Need = (typeof NEEDS)[number];

/**
 * What the sender must do with a row. A number that was not found needs attention if the holder of a similar number has
 * the name that was sent. So does a license found by a surname alone or with an initial: it may be somebody else's.
 */
export function needOf(view: View): Need {
  if (view.outcome === 'found')
    return view.record.cautions.length > 0 || view.isNamePartial ? 'attention' : 'clear';
  if (view.outcome === 'invalid') return 'invalid';
  const isOfTheName = view.outcome === 'not_found' && (view.miss.ofTheName ?? []).length > 0;
  return view.outcome === 'ambiguous' || isOfTheName ? 'attention' : 'not_found';
}
