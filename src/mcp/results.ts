import { z } from 'zod';
import { dataAge, dataAgeDays, type Origin } from '../answers/origin.ts';
import { missFacts, type ResponseRecord, responseRecord, sentencesOf, type View } from '../answers/view.ts';
import { AUTHORITY, ageSentence, SAMPLE_DATA_NOTICE } from '../answers/words.ts';
import { MAX_MATCHES } from '../licenses/lookup.ts';
import { EXTRA_DATA_LABELS } from '../licenses/standing.ts';

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
    notes: true,
    url: true,
  })
  .extend({
    board_action: z
      .string()
      .nullable()
      .describe(
        'The State’s column for it: usually Yes or No; null is not given by the State, which is no No. See the caution',
      ),
    street: z.string().optional().describe('Of a business: it tells the places of a chain apart'),
  });

/** What every result says of the data that it is from. */
export const resultOrigin = {
  data_as_of: z.string().describe('Run date of the dataset that answered, YYYY-MM-DD'),
  ...dataAge,
};

export function originOf(origin: Pick<Origin, 'date' | 'today'>) {
  return { data_as_of: origin.date, data_age_days: dataAgeDays(origin) };
}

/** The message of a result: what these sentences say, and what every result says. */
export function messageOf(origin: Origin, ...sentences: readonly string[]): string {
  const age = ageSentence(origin);
  const all = [
    origin.isSampleData ? SAMPLE_DATA_NOTICE : '',
    ...sentences,
    // A miss says the age itself.
    sentences.some((sentence) => sentence.includes(age)) ? '' : age,
    AUTHORITY,
  ];
  return all.filter((sentence) => sentence !== '').join(' ');
}

/** The result of every lookup tool. */
export const lookupResult = z.object({
  outcome: z.enum(['found', 'not_found', 'ambiguous']),
  ...resultOrigin,
  message: z.string().describe('What the outcome means and what to do next'),
  searched: z.record(z.string(), z.string()).describe('What was looked for'),
  count: z.int().describe('How many licenses are in this result'),
  truncated: z.boolean().describe('Whether more matched than are returned'),
  licenses: z
    .array(responseRecord.partial().extend(compactLicense.shape))
    .describe('The only match has its whole record; one of several comes without extra_data and the like'),
  ...missFacts.shape,
  reason: missFacts.shape.reason.optional(),
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
}

/** Turns the answer to a lookup into a tool result. Its words never say "unlicensed". */
export function lookupToolResult(view: View, call: LookupCall): LookupResult {
  const { origin } = view;
  const listed = view.records.slice(0, call.limit);
  const isWhole = view.outcome === 'found';
  const facts = view.outcome === 'not_found' ? view.facts : { did_you_mean: [] };
  const { did_you_mean: numbers, did_you_mean_name_match: matches, ...others } = facts;
  // The number that was asked for is no suggestion.
  const offered = [...numbers.keys()].filter((at) => numbers[at] !== call.searched.license_number);
  return {
    outcome:
      isWhole || view.outcome === 'ambiguous'
        ? 'found'
        : facts.reason === 'ambiguous'
          ? 'ambiguous'
          : 'not_found',
    ...originOf(origin),
    message: messageOf(
      origin,
      ...(view.outcome === 'ambiguous' ? severalMatch(view, listed, call) : sentencesOf(view, 'tool')),
    ),
    searched: { ...call.searched },
    count: listed.length,
    truncated: view.truncated || listed.length < view.records.length,
    licenses: listed.map((record) =>
      isWhole ? { ...record, ...highlightedAttributes(record) } : compact(record),
    ),
    ...others,
    did_you_mean: offered.map((at) => numbers[at] ?? ''),
    ...(matches && { did_you_mean_name_match: offered.map((at) => matches[at] === true) }),
  };
}

/** A license as it is in a list of several. */
export function compact(record: ResponseRecord): z.output<typeof compactLicense> {
  const { license_number, full_name, board, license_type, status, raw_status, url } = record;
  const { expiry_date, city, state, county, cautions, notes } = record;
  return {
    ...{ license_number, full_name, board, license_type, status, raw_status },
    ...{ expiry_date, city, state, county, cautions, notes },
    ...highlightedAttributes(record),
    ...(url === undefined ? {} : { url }),
  };
}

/** Attributes from `extra_data` that a model needs even in a list. */
function highlightedAttributes({ extra_data }: ResponseRecord) {
  const street = extra_data[EXTRA_DATA_LABELS.street];
  return {
    ...(street === undefined ? {} : { street }),
    board_action: extra_data[EXTRA_DATA_LABELS.boardAction] ?? null,
  };
}

/** That several match, and how to list fewer or more. */
function severalMatch(
  view: View,
  listed: readonly ResponseRecord[],
  { unusedFilters, limit }: LookupCall,
): string[] {
  const { records, truncated } = view;
  const cautioned = listed.filter(({ cautions }) => cautions.length > 0).length;
  const cautions =
    cautioned === 0 ? [] : [`Of those listed, ${cautioned} have cautions: tell them with the license.`];
  if (!truncated && listed.length === records.length) return [...sentencesOf(view, 'tool'), ...cautions];
  const matching = truncated ? `More than ${records.length}` : String(records.length);
  const narrowing = unusedFilters.length === 0 ? '' : `; narrow the search by ${unusedFilters.join(', ')}`;
  const higher = limit < MAX_MATCHES ? ` A higher limit (up to ${MAX_MATCHES}) lists more.` : '';
  return [
    `${matching} licenses match (${listed.length} listed, exact names first)${narrowing}.${higher}`,
    ...cautions,
  ];
}
