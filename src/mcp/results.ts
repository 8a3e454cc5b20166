import { z } from 'zod';
import { cautionSentences, cautionsOf, ONLY_MATCH_BY_NAME } from '../licenses/cautions.ts';
import {
  type LicenseRecord,
  licenseUrl,
  type RecordOrigin,
  responseRecord,
  toResponseRecord,
} from '../licenses/license.ts';
import { type LookupOutcome, MAX_MATCHES } from '../licenses/lookup.ts';
import {
  AS_PERSONS,
  NOBODY_IS_UNLICENSED,
  NUMBER_NOT_FOUND_REASONS,
  notFoundMessage,
  reasonOf,
} from '../licenses/not-found.ts';
import { EXTRA_DATA_LABELS } from '../licenses/status.ts';

/** Who is the authority; part of every result. */
export const AUTHORITY =
  'The data is the State of Ohio’s daily dataset, not primary-source verification; the issuing board is the authority.';

/** Part of every result from sample data. */
export const SAMPLE_DATA_NOTICE = 'SAMPLE DATA: generated, of no real person or business.';

/** The fields of a license in a list of several. */
export const compactLicense = responseRecord
  .pick({
    license_number: true,
    full_name: true,
    board: true,
    license_type: true,
    status: true,
    raw_status: true,
    expiry_date: true,
    city: true,
    state: true,
    county: true,
    cautions: true,
    url: true,
  })
  .extend({
    board_action: z
      .string()
      .nullable()
      .describe(
        'Whether the board has acted on the license (discipline): Yes or No; null where the State does not say',
      ),
    street: z.string().optional().describe('Of a business: it tells the places of a chain apart'),
  });

/** Why a number has no license, as a code. */
export const notFoundReason = z
  .enum(NUMBER_NOT_FOUND_REASONS)
  .describe('Why a number has no license: the message says it in words');

/** The result of every lookup tool. */
export const lookupResult = z.object({
  outcome: z.enum(['found', 'not_found', 'ambiguous']),
  reason: notFoundReason.optional(),
  data_as_of: z.string().describe('Run date of the dataset that answered, YYYY-MM-DD'),
  message: z.string().describe('What the outcome means and what to do next'),
  searched: z.record(z.string(), z.string()).describe('What was looked for'),
  count: z.int().describe('How many licenses are in this result'),
  truncated: z.boolean().describe('Whether more matched than are returned'),
  licenses: z
    .array(responseRecord.partial().extend(compactLicense.shape))
    .describe('The only match has its whole record; one of several comes without extra_data and the like'),
  did_you_mean: z
    .array(z.string())
    .describe(
      'Numbers, business names, surnames or "SURNAME, GIVEN NAME" that exist and may be meant; ask before you use one',
    ),
});

export type LookupResult = z.output<typeof lookupResult>;

/** The call that a result answers. */
export interface LookupCall {
  /** The values of the call's parameters, without the limit. */
  readonly searched: Readonly<Record<string, string>>;
  /** The parameters that would restrict the search further. */
  readonly unusedFilters: readonly string[];
  /** The most licenses to list. */
  readonly limit: number;
  readonly isByName: boolean;
}

/** The data that a result is from. */
export interface Origin extends RecordOrigin {
  /** Whether it is generated sample data. */
  readonly isSampleData: boolean;
}

type ResultFields = Pick<LookupResult, 'outcome' | 'reason'> &
  Partial<Pick<LookupResult, 'truncated' | 'licenses' | 'did_you_mean'>>;

/** Turns a lookup's outcome into a tool result. Its words never say "unlicensed". */
export function lookupToolResult(outcome: LookupOutcome, call: LookupCall, origin: Origin): LookupResult {
  const result = (
    { outcome, reason, truncated = false, licenses = [], did_you_mean = [] }: ResultFields,
    ...sentences: readonly string[]
  ): LookupResult => ({
    outcome,
    ...(reason === undefined ? {} : { reason }),
    data_as_of: origin.date,
    message: [...(origin.isSampleData ? [SAMPLE_DATA_NOTICE] : []), ...sentences, AUTHORITY].join(' '),
    searched: { ...call.searched },
    count: licenses.length,
    truncated,
    licenses,
    did_you_mean,
  });

  switch (outcome.outcome) {
    case 'found': {
      const license = fullLicense(outcome.record, origin, outcome.nameMatch);
      return result(
        { outcome: 'found', licenses: [license] },
        ...(call.isByName ? [ONLY_MATCH_BY_NAME] : []),
        ...cautionSentences(license, license.cautions),
      );
    }
    case 'several': {
      const licenses = outcome.records.slice(0, call.limit).map((record) => compact(record, origin));
      const truncated = outcome.truncated || licenses.length < outcome.records.length;
      return result(
        { outcome: 'found', truncated, licenses },
        severalMatchesMessage(outcome, licenses.length, call),
        ...cautionsInList(licenses),
      );
    }
    default: {
      const message = notFoundMessage(outcome, origin.date, AS_PERSONS.tool);
      if (outcome.request.by !== 'number') {
        const didYouMean = [...outcome.didYouMean];
        return result({ outcome: 'not_found', did_you_mean: didYouMean }, message, NOBODY_IS_UNLICENSED);
      }
      return result(
        {
          outcome: outcome.outcome === 'ambiguous_number' ? 'ambiguous' : 'not_found',
          reason: reasonOf(outcome),
          did_you_mean: outcome.didYouMean.filter((number) => number !== call.searched.license_number),
        },
        message,
      );
    }
  }
}

function fullLicense(record: LicenseRecord, origin: Origin, nameMatch: boolean | undefined) {
  return {
    ...toResponseRecord(record, origin, nameMatch),
    ...highlightedAttributes(record),
  };
}

/** A license as it is in a list of several. */
export function compact(
  record: LicenseRecord,
  { today, publicUrl }: RecordOrigin,
  nameMatch?: boolean,
): z.output<typeof compactLicense> {
  const url = licenseUrl(record, publicUrl);
  const { license_number, full_name, board, license_type, status, raw_status } = record;
  const { expiry_date, city, state, county } = record;
  return {
    ...{ license_number, full_name, board, license_type, status, raw_status },
    ...{ expiry_date, city, state, county, cautions: cautionsOf(record, today, nameMatch) },
    ...highlightedAttributes(record),
    ...(url === undefined ? {} : { url }),
  };
}

/** Attributes from `extra_data` that a model needs even in a list. */
function highlightedAttributes({ extra_data }: LicenseRecord) {
  const street = extra_data[EXTRA_DATA_LABELS.street];
  return {
    ...(street === undefined ? {} : { street }),
    board_action: extra_data[EXTRA_DATA_LABELS.boardAction] ?? null,
  };
}

function cautionsInList(licenses: readonly z.output<typeof compactLicense>[]): string[] {
  const cautioned = licenses.filter(({ cautions }) => cautions.length > 0).length;
  return cautioned === 0 ? [] : [`Of those listed, ${cautioned} have cautions: tell them with the license.`];
}

function severalMatchesMessage(
  { records, truncated }: Extract<LookupOutcome, { outcome: 'several' }>,
  listed: number,
  { unusedFilters, limit }: LookupCall,
): string {
  const matching = truncated ? `More than ${records.length}` : String(records.length);
  const narrowing = unusedFilters.length === 0 ? '' : `; narrow the search by ${unusedFilters.join(', ')}`;
  const higher = limit < MAX_MATCHES ? ` A higher limit (up to ${MAX_MATCHES}) lists more.` : '';
  return truncated || listed < records.length
    ? `${matching} licenses match (${listed} listed, exact names first)${narrowing}.${higher}`
    : `${matching} licenses match: check which one is meant, and ask if that is not clear. verify_license with its number gives the whole record.`;
}
