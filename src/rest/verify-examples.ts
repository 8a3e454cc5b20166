import { boardByName } from '../licenses/boards.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import type { LookupOutcome } from '../licenses/lookup-outcome.ts';
import { verifyResponse } from './verify-response.ts';

/** Examples of request bodies. */
export const REQUEST_EXAMPLES = {
  number: { value: { board: 'Nursing Board', license_number: 'RN.124396' } },
  person: { value: { board: 'Nursing Board', last_name: 'Bowen', first_name: 'Su' } },
  business: {
    value: {
      board: 'Board of Pharmacy',
      search_type: 'business',
      business_name: 'Main Street Pharmacy',
    },
  },
};

export const EXAMPLE_DATE = '2026-11-20';

/** All licenses in the examples are in the sample data that `npm start` publishes, so the examples can be tried. */
export const EXAMPLE: LicenseRecord = {
  license_number: 'RN.124396',
  full_name: 'BOWEN, SUSAN KIM',
  board: 'Nursing Board',
  license_type: 'Registered Nurse (RN)',
  status: 'ACTIVE',
  expiry_date: '2027-08-31',
  city: 'Wolf Run',
  state: 'OH',
  raw_status: 'Active - Probation',
  county: 'Jefferson',
  issue_date: '2009-07-16',
  extra_data: {
    'Board Action': 'Yes',
    County: 'Jefferson',
    ZIP: '43970',
    Country: 'United States',
    'Compact Eligibility': 'Single-State',
    'Issue Date': '2009-07-16',
    'Effective Date': '2025-09-01',
  },
};
export const OTHER_EXAMPLE: LicenseRecord = {
  license_number: 'PN.470899',
  full_name: 'BOWEN, BERTHA T',
  board: 'Nursing Board',
  license_type: 'Licensed Practical Nurse (LPN)',
  status: 'CLOSED',
  expiry_date: '2024-10-22',
  city: 'Cincinnati',
  state: 'OH',
  raw_status: 'Closed - Deceased',
  county: 'Hamilton',
  issue_date: '1979-02-12',
  extra_data: {
    'Board Action': 'No',
    County: 'Hamilton',
    ZIP: '45221',
    Country: 'United States',
    'Issue Date': '1979-02-12',
    'Effective Date': '2022-10-24',
  },
};

/** The body that the service sends for this outcome. */
function exampleBody(outcome: LookupOutcome): unknown {
  return verifyResponse(outcome, EXAMPLE_DATE, EXAMPLE_DATE).body;
}

const MISSPELLED = {
  by: 'person',
  board: boardByName(EXAMPLE.board),
  lastName: 'Bowem',
  filters: {},
} as const;

/** Examples of responses with status 200. */
export const FOUND_EXAMPLES = {
  record: {
    summary: 'A number, or the only match',
    value: exampleBody({ outcome: 'record', record: EXAMPLE }),
  },
  matches: {
    summary: 'Several matches',
    value: exampleBody({ outcome: 'matches', records: [OTHER_EXAMPLE, EXAMPLE], truncated: false }),
  },
  no_match: {
    summary: 'No match of a name',
    value: exampleBody({ outcome: 'no_match', request: MISSPELLED, didYouMean: ['BOWEN'] }),
  },
};

/** A number with a digit too few. */
export const MISSED_NUMBER = {
  outcome: 'number_not_found',
  request: { by: 'number', number: 'RN.12439', businessOnly: false },
  reason: 'unknown',
  didYouMean: ['RN.124396'],
} as const;

/** Examples of responses with status 404. */
export const NUMBER_NOT_FOUND_EXAMPLES = {
  unknown: {
    summary: 'A mistyped number',
    value: exampleBody(MISSED_NUMBER),
  },
};
