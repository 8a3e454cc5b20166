import { expect, test } from '@jest/globals';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

/** The names once for each number, which takes the place of `#`. */
function numbered(numbers: readonly number[], names: readonly string[]): string[] {
  return numbers.flatMap((number) => names.map((name) => name.replace('#', String(number))));
}

test('the individual file has the 154 columns of the State, in order', () => {
  expect(INDIVIDUAL_COLUMNS).toHaveLength(154);
  expect(INDIVIDUAL_COLUMNS).toEqual([
    ...words(
      'LICENSEE_NAME BOARD LICENSE_NUMBER TYPE STATUS SUB_STATUS SUB_CATEGORY BOARD_ACTION',
      'PARCEL_CITY PARCEL_STATE PARCEL_COUNTY PARCEL_ZIP_CODE PARCEL_COUNTRY COMPACT_ELIGIBILITY',
      'ISSUE_DATE EFFECTIVE_DATE EXPIRATION_DATE',
    ),
    ...numbered(
      [1, 2, 3, 4, 5, 6, 7],
      words(
        'ENDORSEMENT_NUMBER_# ENDORSEMENT_TYPE_# ENDORSEMENT_STATUS_# ENDORSEMENT_SUB_STATUS_#',
        'ENDORSEMENT_SUB_CATEGORY_# ENDORSEMENT_BOARD_ACTION_#',
        'ENDORSEMENT_ISSUE_DATE_# ENDORSEMENT_EXPIRATION_DATE_#',
      ),
    ),
    ...numbered(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      words(
        'MED_SPECIALTY_TYPE_# MED_SPECIALTY_OTHER_TYPE_# MED_SPECIALTY_# MED_OTHER_SPECIALTY_#',
        'MED_SUB_SPECIALTY_# MED_SUB_SPECIALTY_OTHER_#',
      ),
    ),
    ...numbered(
      [1, 2, 3, 4, 5],
      words(
        'NATIONAL_CERTIFICATION_ORGANIZATION_# NATIONAL_CERTIFICATION_EXPIRATION_DATE_#',
        'NATIONAL_CERTIFICATION_SPECIALTY_# NATIONAL_CERTIFICATION_FOCI_#',
      ),
    ),
    'QUERY_RUN_DATE',
  ]);
});

test('the business file has the 18 columns of the State, in order', () => {
  expect(BUSINESS_COLUMNS).toEqual(
    words(
      'BUSINESS_NAME BOARD LICENSE_NUMBER TYPE STATUS SUB_STATUS SUB_CATEGORY BOARD_ACTION',
      'PARCEL_STREET_ADDRESS PARCEL_CITY PARCEL_STATE PARCEL_COUNTY PARCEL_ZIP_CODE PARCEL_COUNTRY',
      'ISSUE_DATE EFFECTIVE_DATE EXPIRATION_DATE QUERY_RUN_DATE',
    ),
  );
});
