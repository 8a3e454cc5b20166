/** The State's two files. */
export type DatasetFile = 'individual' | 'business';

export const ENDORSEMENTS = 7;
const MEDICAL_SPECIALTIES = 10;
const NATIONAL_CERTIFICATIONS = 5;

function numbered(count: number, names: readonly string[]): string[] {
  return Array.from({ length: count }, (_, index) => names.map((name) => `${name}_${index + 1}`)).flat();
}

const ENDORSEMENT_COLUMNS = [
  'ENDORSEMENT_NUMBER',
  'ENDORSEMENT_TYPE',
  'ENDORSEMENT_STATUS',
  'ENDORSEMENT_SUB_STATUS',
  'ENDORSEMENT_SUB_CATEGORY',
  'ENDORSEMENT_BOARD_ACTION',
  'ENDORSEMENT_ISSUE_DATE',
  'ENDORSEMENT_EXPIRATION_DATE',
] as const;

/** The header of the individual file as published in mid-2026: 154 columns. */
export const INDIVIDUAL_COLUMNS: readonly string[] = [
  'LICENSEE_NAME',
  'BOARD',
  'LICENSE_NUMBER',
  'TYPE',
  'STATUS',
  'SUB_STATUS',
  'SUB_CATEGORY',
  'BOARD_ACTION',
  'PARCEL_CITY',
  'PARCEL_STATE',
  'PARCEL_COUNTY',
  'PARCEL_ZIP_CODE',
  'PARCEL_COUNTRY',
  'COMPACT_ELIGIBILITY',
  'ISSUE_DATE',
  'EFFECTIVE_DATE',
  'EXPIRATION_DATE',
  ...numbered(ENDORSEMENTS, ENDORSEMENT_COLUMNS),
  ...numbered(MEDICAL_SPECIALTIES, [
    'MED_SPECIALTY_TYPE',
    'MED_SPECIALTY_OTHER_TYPE',
    'MED_SPECIALTY',
    'MED_OTHER_SPECIALTY',
    'MED_SUB_SPECIALTY',
    'MED_SUB_SPECIALTY_OTHER',
  ]),
  ...numbered(NATIONAL_CERTIFICATIONS, [
    'NATIONAL_CERTIFICATION_ORGANIZATION',
    'NATIONAL_CERTIFICATION_EXPIRATION_DATE',
    'NATIONAL_CERTIFICATION_SPECIALTY',
    'NATIONAL_CERTIFICATION_FOCI',
  ]),
  'QUERY_RUN_DATE',
];

/** The header of the business file as published in mid-2026: 18 columns. */
export const BUSINESS_COLUMNS: readonly string[] = [
  'BUSINESS_NAME',
  'BOARD',
  'LICENSE_NUMBER',
  'TYPE',
  'STATUS',
  'SUB_STATUS',
  'SUB_CATEGORY',
  'BOARD_ACTION',
  'PARCEL_STREET_ADDRESS',
  'PARCEL_CITY',
  'PARCEL_STATE',
  'PARCEL_COUNTY',
  'PARCEL_ZIP_CODE',
  'PARCEL_COUNTRY',
  'ISSUE_DATE',
  'EFFECTIVE_DATE',
  'EXPIRATION_DATE',
  'QUERY_RUN_DATE',
];

export const STANDARD_COLUMNS: Readonly<Record<DatasetFile, readonly string[]>> = {
  individual: INDIVIDUAL_COLUMNS,
  business: BUSINESS_COLUMNS,
};
