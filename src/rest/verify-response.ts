import { z } from 'zod';
import { dataAge, type Origin, originBody, originFields } from '../answers/origin.ts';
import { missFacts, responseRecord, sentencesOf, type View, viewOf } from '../answers/view.ts';
import { boardByName } from '../licenses/boards.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import { type LookupOutcome, MAX_MATCHES } from '../licenses/lookup.ts';

export const licenseBody = responseRecord.meta({
  id: 'LicenseRecord',
  description: 'A license and its holder',
});

export const matchesBody = z
  .object({
    found: z.literal(true),
    count: z.int().min(2).max(MAX_MATCHES),
    truncated: z.boolean().describe('Whether more match than are answered'),
    message: z.string().optional().describe('Where truncated: how to narrow the search'),
    multiple: z.array(licenseBody).min(2).max(MAX_MATCHES),
    ...originFields,
  })
  .meta({ id: 'Matches', description: 'More than one match of a search by name' });

export const noMatchBody = z
  .object({
    found: z.literal(false),
    count: z.literal(0),
    message: z.string().describe('What was searched, in which dataset, and who is the authority'),
    did_you_mean: z
      .array(z.string())
      .describe(
        'Names that exist and may be meant: business names, surnames, or "SURNAME, GIVEN NAME"; where the surname itself exists, only the last',
      ),
    ...originFields,
  })
  .meta({
    id: 'NoMatch',
    description: 'No match of a search by name: an answer, not an error, and never "unlicensed"',
  });

export const numberNotFoundBody = z
  .object({
    detail: z.string().describe('What was searched, in which dataset, and what to do'),
    ...missFacts.shape,
    ...dataAge,
  })
  .meta({ id: 'NumberMiss' });

/** What an answer says of a miss: the facts, beside the words. */
export function missBody(view: Extract<View, { outcome: 'not_found' }>) {
  return { detail: sentencesOf(view, 'rest').join(' '), ...view.facts };
}

/** The status and body for a lookup (requirements LOOKUP-10 to LOOKUP-12). */
export function verifyResponse(outcome: LookupOutcome, origin: Origin) {
  const view = viewOf(outcome, origin);
  const from = originBody(origin);
  if (view.outcome === 'found') return { status: 200, body: view.record };
  if (view.outcome === 'not_found') {
    const { detail, ...facts } = missBody(view);
    return facts.reason === undefined
      ? { status: 200, body: { found: false, count: 0, message: detail, ...facts, ...from } }
      : { status: 404, body: { detail, ...facts, data_age_days: from.data_age_days } };
  }
  const { records, truncated } = view;
  const body: z.output<typeof matchesBody> = {
    found: true,
    count: records.length,
    truncated,
    ...(truncated && { message: TRUNCATED_MESSAGE }),
    multiple: [...records],
    ...from,
  };
  return { status: 200, body };
}

const FILTERS = FILTER_NAMES.join(', ').replace(/, (?=\w+$)/, ' or ');
const TRUNCATED_MESSAGE = `There are more than ${MAX_MATCHES} matches. Narrow the search with first_name (of a person), ${FILTERS}.`;

export const REQUEST_EXAMPLES = {
  number: { value: { board: 'Nursing Board', license_number: 'RN.987654321' } },
  person: { value: { board: 'Nursing Board', last_name: 'Example', first_name: 'Pa' } },
  business: {
    value: {
      board: 'Board of Pharmacy',
      search_type: 'business',
      business_name: 'Example Pharmacy',
    },
  },
};

export const EXAMPLE_DATE = '2026-11-20';

export const EXAMPLE_ORIGIN: Origin = {
  publication: '',
  date: EXAMPLE_DATE,
  today: EXAMPLE_DATE,
  isSampleData: true,
};

/** The examples are in every sample data (`sample-data/generator/examples.ts`), so they can be tried. No board can issue their numbers. */
export const EXAMPLE: LicenseRecord = {
  license_number: 'RN.987654321',
  full_name: 'EXAMPLE, PAT SAMPLE',
  board: 'Nursing Board',
  license_type: 'Registered Nurse (RN)',
  status: 'ACTIVE',
  expiry_date: '2035-10-31',
  city: 'Columbus',
  state: 'OH',
  raw_status: 'Active',
  county: 'Franklin',
  issue_date: '2020-01-15',
  extra_data: {
    'Board Action': 'No',
    County: 'Franklin',
    ZIP: '43215',
    Country: 'United States',
    'Compact Eligibility': 'Multi-State',
    'Issue Date': '2020-01-15',
    'Effective Date': '2025-11-01',
  },
};

export const OTHER_EXAMPLE: LicenseRecord = {
  ...EXAMPLE,
  license_number: 'PN.987654321',
  full_name: 'EXAMPLE, ROBIN',
  license_type: 'Licensed Practical Nurse (LPN)',
  city: 'Dayton',
  county: 'Montgomery',
  extra_data: {
    'Board Action': 'No',
    County: 'Montgomery',
    ZIP: '45402',
    Country: 'United States',
    'Issue Date': '2020-01-15',
    'Effective Date': '2025-11-01',
  },
};

function example(summary: string, outcome: LookupOutcome) {
  return { summary, value: verifyResponse(outcome, EXAMPLE_ORIGIN).body };
}

const MISSPELLED = {
  by: 'person',
  board: boardByName(EXAMPLE.board),
  lastName: 'Exampel',
  filters: {},
} as const;

export const FOUND_EXAMPLES = {
  record: example('A number, or the only match', { outcome: 'found', record: EXAMPLE }),
  matches: example('Several matches', {
    outcome: 'several',
    records: [EXAMPLE, OTHER_EXAMPLE],
    truncated: false,
  }),
  no_match: example('No match of a name', {
    outcome: 'none',
    reason: 'unknown',
    request: MISSPELLED,
    didYouMean: ['EXAMPLE'],
  }),
};

/** A number with two digits swapped. */
export const MISSED_NUMBER = {
  outcome: 'none',
  reason: 'unknown',
  request: { by: 'number', number: 'RN.987654312', businessOnly: false },
  didYouMean: ['RN.987654321'],
} as const;

export const NUMBER_NOT_FOUND_EXAMPLES = { unknown: example('A mistyped number', MISSED_NUMBER) };
