import { boardByName } from '../licenses/boards.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import type { LookupOutcome } from '../licenses/lookup.ts';
import { verifyResponse } from './verify-response.ts';

/** Examples of request bodies. */
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

/** The body that the service sends for this outcome. */
function exampleBody(outcome: LookupOutcome): unknown {
  return verifyResponse(outcome, EXAMPLE_DATE, EXAMPLE_DATE).body;
}

const MISSPELLED = {
  by: 'person',
  board: boardByName(EXAMPLE.board),
  lastName: 'Exampel',
  filters: {},
} as const;

/** Examples of responses with status 200. */
export const FOUND_EXAMPLES = {
  record: {
    summary: 'A number, or the only match',
    value: exampleBody({ outcome: 'found', record: EXAMPLE }),
  },
  matches: {
    summary: 'Several matches',
    value: exampleBody({ outcome: 'several', records: [EXAMPLE, OTHER_EXAMPLE], truncated: false }),
  },
  no_match: {
    summary: 'No match of a name',
    value: exampleBody({ outcome: 'none', request: MISSPELLED, didYouMean: ['EXAMPLE'] }),
  },
};

/** A number with a digit too few. */
export const MISSED_NUMBER = {
  outcome: 'none',
  request: { by: 'number', number: 'RN.987654312', businessOnly: false },
  didYouMean: ['RN.987654321'],
} as const;

/** Examples of responses with status 404. */
export const NUMBER_NOT_FOUND_EXAMPLES = {
  unknown: {
    summary: 'A mistyped number',
    value: exampleBody(MISSED_NUMBER),
  },
};
