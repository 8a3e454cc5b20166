/** The State's two files. */
export type DatasetFile = 'individual' | 'business';

export const ENDORSEMENTS = 7;

/** Names such as `MED_SPECIALTY_1`, `MED_SPECIALTY_TYPE_1`, … for each number. */
function numbered(count: number, prefix: string, names: readonly string[]): string[] {
  return Array.from({ length: count }, (_, index) =>
    names.map((name) => `${prefix}_${name}_${index + 1}`),
  ).flat();
}

const STANDING = ['BOARD', 'LICENSE_NUMBER', 'TYPE', 'STATUS', 'SUB_STATUS', 'SUB_CATEGORY', 'BOARD_ACTION'];
const PLACE = ['PARCEL_CITY', 'PARCEL_STATE', 'PARCEL_COUNTY', 'PARCEL_ZIP_CODE', 'PARCEL_COUNTRY'];
const DATES = ['ISSUE_DATE', 'EFFECTIVE_DATE', 'EXPIRATION_DATE'];
const ENDORSEMENT = ['NUMBER', 'TYPE', 'STATUS', 'SUB_STATUS', 'SUB_CATEGORY', 'BOARD_ACTION'];
const SPECIALTY = ['SPECIALTY_TYPE', 'SPECIALTY_OTHER_TYPE', 'SPECIALTY', 'OTHER_SPECIALTY'];
const SUB_SPECIALTY = ['SUB_SPECIALTY', 'SUB_SPECIALTY_OTHER'];
const CERTIFICATION = ['ORGANIZATION', 'EXPIRATION_DATE', 'SPECIALTY', 'FOCI'];

/** The header of the individual file as the State published it in mid-2026: 154 columns. */
export const INDIVIDUAL_COLUMNS: readonly string[] = [
  'LICENSEE_NAME',
  ...[...STANDING, ...PLACE, 'COMPACT_ELIGIBILITY', ...DATES],
  ...numbered(ENDORSEMENTS, 'ENDORSEMENT', [...ENDORSEMENT, 'ISSUE_DATE', 'EXPIRATION_DATE']),
  ...numbered(10, 'MED', [...SPECIALTY, ...SUB_SPECIALTY]),
  ...numbered(5, 'NATIONAL_CERTIFICATION', CERTIFICATION),
  'QUERY_RUN_DATE',
];

/** The header of the business file as the State published it in mid-2026: 18 columns. */
export const BUSINESS_COLUMNS: readonly string[] = [
  'BUSINESS_NAME',
  ...[...STANDING, 'PARCEL_STREET_ADDRESS', ...PLACE, ...DATES],
  'QUERY_RUN_DATE',
];

export const STANDARD_COLUMNS: Readonly<Record<DatasetFile, readonly string[]>> = {
  individual: INDIVIDUAL_COLUMNS,
  business: BUSINESS_COLUMNS,
};
