import { z } from 'zod';
import { cautions } from '../licenses/cautions.ts';
import { EXTRA_DATA_LABELS } from '../licenses/extra-data-labels.ts';
import { type LicenseRecord, responseRecord, toResponseRecord } from '../licenses/license-record.ts';
import type { LookupOutcome } from '../licenses/lookup-outcome.ts';
import { MAX_MATCHES } from '../licenses/lookup-outcome.ts';
import { numberNotFoundMessage } from '../licenses/number-not-found-message.ts';

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

/** The result of every lookup tool. */
export const lookupResult = z.object({
  outcome: z.enum(['found', 'not_found', 'ambiguous']),
  data_as_of: z.string().describe('Run date of the dataset that answered, YYYY-MM-DD'),
  message: z.string().describe('What the outcome means and what to do next'),
  searched: z.record(z.string(), z.string()).describe('What was looked for'),
  count: z.int().describe('How many licenses are in this result'),
  truncated: z.boolean().describe('Whether more matched than are returned'),
  licenses: z
    .array(responseRecord.partial().extend(compactLicense.shape))
    .describe('One license has its whole record; several come without extra_data and the like'),
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
export interface Origin {
  /** The run date of the dataset, `YYYY-MM-DD`. */
  readonly date: string;
  /** Whether it is generated sample data. */
  readonly isSampleData: boolean;
  /** The date in Ohio. */
  readonly today: string;
}

type ResultFields = Pick<LookupResult, 'outcome'> &
  Partial<Pick<LookupResult, 'truncated' | 'licenses' | 'did_you_mean'>>;

/** Turns a lookup's outcome into a tool result. Its words never say "unlicensed". */
export function lookupToolResult(outcome: LookupOutcome, call: LookupCall, origin: Origin): LookupResult {
  const result = (
    { outcome, truncated = false, licenses = [], did_you_mean = [] }: ResultFields,
    ...sentences: readonly string[]
  ): LookupResult => ({
    outcome,
    data_as_of: origin.date,
    message: [...(origin.isSampleData ? [SAMPLE_DATA_NOTICE] : []), ...sentences, AUTHORITY].join(' '),
    searched: { ...call.searched },
    count: licenses.length,
    truncated,
    licenses,
    did_you_mean,
  });

  switch (outcome.outcome) {
    case 'record': {
      const license = fullLicense(outcome.record, origin, outcome.nameMatch);
      return result(
        { outcome: 'found', licenses: [license] },
        ...cautions(license, call.isByName ? 'name' : 'number'),
      );
    }
    case 'matches': {
      const licenses = outcome.records.slice(0, call.limit).map(compact);
      const truncated = outcome.truncated || licenses.length < outcome.records.length;
      return result(
        { outcome: 'found', truncated, licenses },
        severalMatchesMessage(outcome, licenses.length, call),
      );
    }
    case 'no_match':
      return result(
        { outcome: 'not_found', did_you_mean: [...outcome.didYouMean] },
        ...(outcome.surnameExists === true
          ? [
              `The board has licenses of this surname in the dataset of ${origin.date}, but none matches the given name and the filters.`,
              'That does not mean that nobody is licensed: check them, or leave them out.',
            ]
          : [
              `No license matches in the dataset of ${origin.date}.`,
              'That does not mean that nobody is licensed: check the spelling, the board and the filters.',
            ]),
      );
    case 'number_not_found':
      return result(
        {
          outcome: outcome.reason === 'ambiguous' ? 'ambiguous' : 'not_found',
          did_you_mean: outcome.didYouMean.filter((number) => number !== call.searched.license_number),
        },
        numberNotFoundMessage(outcome, origin.date, 'verify_license looks it up.'),
      );
  }
}

function fullLicense(record: LicenseRecord, origin: Origin, nameMatch: boolean | undefined) {
  return {
    ...toResponseRecord(record, origin.date, origin.today, nameMatch),
    ...highlightedAttributes(record),
  };
}

/** A license as it is in a list of several. */
export function compact(record: LicenseRecord): z.output<typeof compactLicense> {
  const { license_number, full_name, board, license_type, status, raw_status } = record;
  const { expiry_date, city, state, county } = record;
  return {
    ...{ license_number, full_name, board, license_type, status, raw_status },
    ...{ expiry_date, city, state, county, ...highlightedAttributes(record) },
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

function severalMatchesMessage(
  { records, truncated }: Extract<LookupOutcome, { outcome: 'matches' }>,
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
