import { describe, expect, test } from '@jest/globals';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';
import { mapHeader } from '../../src/dataset/header.ts';
import { licensesOfRow, type RowLicenses } from '../../src/dataset/row-to-licenses.ts';
import type { LicenseDocument } from '../../src/licenses/license.ts';
import { datasetRow } from '../support/dataset-rows.ts';
import { nurseRecord } from '../support/records.ts';
import { cellsOf, pairsOf } from '../support/tables.ts';
import { verifies } from '../support/verifies.ts';

const RUN_DATE = '2026-11-20';

const NURSE = Object.fromEntries(
  pairsOf(`
LICENSEE_NAME = EXAMPLE, JANE Q; BOARD = Nursing Board; LICENSE_NUMBER = RN.123456; TYPE = Registered Nurse (RN)
STATUS = Active; SUB_STATUS; PARCEL_CITY = COLUMBUS; PARCEL_STATE = OH; PARCEL_COUNTY = FRANKLIN; BOARD_ACTION = No
PARCEL_ZIP_CODE = 43215-1234; PARCEL_COUNTRY = United States; COMPACT_ELIGIBILITY = Multi-State
ISSUE_DATE = 2015-06-01; EXPIRATION_DATE = 2027-10-31; QUERY_RUN_DATE = ${RUN_DATE}
`),
);

const PRACTITIONER = Object.fromEntries(
  pairsOf(`
ENDORSEMENT_NUMBER_1 = APRN.CNP.0012345; ENDORSEMENT_TYPE_1 = APRN - Certified Nurse Practitioner (CNP)
ENDORSEMENT_STATUS_1 = Inactive; ENDORSEMENT_SUB_STATUS_1 = Lapsed; ENDORSEMENT_SUB_CATEGORY_1 = Family
ENDORSEMENT_BOARD_ACTION_1 = Yes; ENDORSEMENT_ISSUE_DATE_1 = 2018-02-03; ENDORSEMENT_EXPIRATION_DATE_1 = 2025-10-31
`),
);

const PHARMACY = Object.fromEntries(
  pairsOf(`
BUSINESS_NAME = ACME DRUGS LLC D.B.A CORNER PHARMACY; BOARD = Board of Pharmacy; LICENSE_NUMBER = 021234567
TYPE = Terminal Distributor of Dangerous Drugs; STATUS = Active; PARCEL_STREET_ADDRESS = 1 MAIN ST; PARCEL_CITY = LIMA
PARCEL_STATE = OH; PARCEL_COUNTY = ALLEN; PARCEL_ZIP_CODE = 45801; ISSUE_DATE = 2001-01-01
EXPIRATION_DATE = 2027-03-31; QUERY_RUN_DATE = ${RUN_DATE}
`),
);

/** What a nurse's row gives, with these fields in place of hers. */
const nurseRow = (
  values: Readonly<Record<string, string>> = {},
  line = 2,
  columns: readonly string[] = INDIVIDUAL_COLUMNS,
) =>
  licensesOfRow(
    datasetRow(columns, { ...NURSE, ...values }, line),
    mapHeader('individual', columns),
    RUN_DATE,
  );

function businessRow(values: Readonly<Record<string, string>> = {}) {
  const header = mapHeader('business', BUSINESS_COLUMNS);
  return licensesOfRow(datasetRow(BUSINESS_COLUMNS, { ...PHARMACY, ...values }), header, RUN_DATE);
}

/** The licenses of a row that can be published, its own first. */
function documents(result: RowLicenses): readonly LicenseDocument[] {
  if ('rejection' in result) throw new Error(`The row was rejected: ${result.rejection}`);
  return result.documents;
}

function own(result: RowLicenses): LicenseDocument {
  const [document] = documents(result);
  if (document === undefined) throw new Error('The row has no license of its own.');
  return document;
}

/** The fields of a license that are null. */
const nullsOf = (document: LicenseDocument | undefined) =>
  Object.entries(document ?? {})
    .flatMap(([name, value]) => (value === null ? [name] : []))
    .toSorted()
    .join(' ');

describe('the row of a person', () => {
  test('gives the record, its place in the file and its keys', () => {
    const extra_data = {
      ...{ County: 'FRANKLIN', ZIP: '43215-1234', Country: 'United States', 'Issue Date': '2015-06-01' },
      ...{ 'Board Action': 'No', 'Compact Eligibility': 'Multi-State' },
    };
    expect(documents(nurseRow({}, 120))).toEqual([
      {
        ...nurseRecord({ extra_data }),
        source_row: 'individual:120:0',
        keys: expect.objectContaining({ kind: 'person', number: 'RN123456', name: 'NUR/EXAMPLE/JANEQ' }),
      },
    ]);
  });

  test('is read without the blanks around fields', () => {
    const padded = Object.fromEntries(Object.entries(NURSE).map(([name, value]) => [name, `  ${value} `]));
    expect(nurseRow(padded)).toEqual(nurseRow());
  });

  verifies('RECORD-14', 'gives null for blank fields, and nothing in extra_data', () => {
    const blank = Object.fromEntries(
      Object.keys(NURSE)
        .filter((name) => !['LICENSEE_NAME', 'BOARD', 'LICENSE_NUMBER'].includes(name))
        .map((name) => [name, ' ']),
    );
    expect(nullsOf(own(nurseRow(blank)))).toBe(
      'city county expiry_date issue_date license_type raw_status state status',
    );
    expect(own(nurseRow(blank)).extra_data).toEqual({});
  });

  test('gives null for places that are HIDDEN, and nothing in extra_data', () => {
    const hidden = Object.fromEntries(
      ['CITY', 'STATE', 'COUNTY', 'ZIP_CODE', 'COUNTRY'].map((name) => [`PARCEL_${name}`, 'HIDDEN']),
    );
    const { extra_data, ...record } = own(nurseRow(hidden));
    expect(record).toMatchObject({ city: null, state: null, county: null });
    expect(Object.keys(extra_data)).toEqual(['Board Action', 'Compact Eligibility', 'Issue Date']);
  });

  test.each([
    ['SMITH \u00a0, ANN , RN', 'SMITH, ANN , RN'],
    ['HIDDEN, ANN', 'HIDDEN, ANN'],
  ])('gives the name %j as %j', (name, shown) => {
    expect(own(nurseRow({ LICENSEE_NAME: name })).full_name).toBe(shown);
  });

  verifies('RECORD-06', 'may have dates as MM/DD/YYYY, also the run date', () => {
    const dates = { ISSUE_DATE: '6/1/2015', EXPIRATION_DATE: '10/31/2027', EFFECTIVE_DATE: '06/01/2025' };
    const record = own(nurseRow({ ...dates, QUERY_RUN_DATE: '11/20/2026' }));
    expect(record).toMatchObject({ issue_date: '2015-06-01', expiry_date: '2027-10-31' });
    expect(record.extra_data).toMatchObject({ 'Issue Date': '2015-06-01', 'Effective Date': '2025-06-01' });
  });

  test('without a run date belongs to any publication', () => {
    const columns = INDIVIDUAL_COLUMNS.filter((name) => name !== 'QUERY_RUN_DATE');
    const { QUERY_RUN_DATE: _runDate, ...values } = NURSE;
    const row = licensesOfRow(datasetRow(columns, values), mapHeader('individual', columns), RUN_DATE);
    for (const result of [row, nurseRow({ QUERY_RUN_DATE: '' })])
      expect(own(result).license_number).toBe('RN.123456');
  });
});

test('a label of a board that is known is replaced by its name', () => {
  const result = nurseRow({ BOARD: ' ohio  board of nursing ' });
  expect(own(result)).toMatchObject({ board: 'Nursing Board', keys: { name: 'NUR/EXAMPLE/JANEQ' } });
});

const UNKNOWN = {
  BOARD: 'Board of Tarot Readers',
  TYPE: 'Seer',
  STATUS: 'Hovering',
  SUB_STATUS: 'In Orbit',
};

const board = { kind: 'board', label: UNKNOWN.BOARD };
const statuses = [
  { kind: 'status', label: 'Hovering' },
  { kind: 'sub-status', label: 'In Orbit' },
];
const action = (label: string) => [{ kind: 'board action', label }];
const type = (label: string) => [{ kind: 'license type', label }];
test.each<[Readonly<Record<string, string>>, readonly object[]]>([
  [{ BOARD: ' ohio  board of nursing ', STATUS: 'INACTIVE', SUB_STATUS: 'lapsed' }, []],
  [{ TYPE: '' }, []],
  // The types of an unknown board are not reported.
  [UNKNOWN, [board, ...statuses]],
  [{ TYPE: 'Robot Nurse' }, type('NUR: Robot Nurse')],
  [{ ...PRACTITIONER, ENDORSEMENT_TYPE_1: 'APRN - Robot' }, type('NUR: APRN - Robot')],
  [{ ...PRACTITIONER, ENDORSEMENT_STATUS_1: 'Hovering', ENDORSEMENT_SUB_STATUS_1: 'In Orbit' }, statuses],
  [{ ...PRACTITIONER, ENDORSEMENT_BOARD_ACTION_1: 'Y' }, action('Y')],
  [{ BOARD_ACTION: ' YES ' }, []],
  [{ BOARD_ACTION: '' }, []],
  [{ BOARD_ACTION: 'N' }, action('N')],
  [{ BOARD_ACTION: 'constructor' }, action('constructor')],
])('a label is reported if it is unknown: %j', (values, unknownLabels) => {
  expect(nurseRow(values)).toMatchObject({ unknownLabels });
});

/** One character, of three bytes, that folds to 15 letters of two bytes. */
const FOLDS_LONG = '\ufdfa';
const THREE_BYTES = '\u6f22';

test.each<[string, Readonly<Record<string, string>>]>([
  ['a board that folds to long text', { BOARD: FOLDS_LONG.repeat(60) }],
  ['a board and a number', { BOARD: THREE_BYTES.repeat(71), LICENSE_NUMBER: THREE_BYTES.repeat(100) }],
])('an id that would be too long for OpenSearch rejects the row: %s', (_what, values) => {
  expect(nurseRow(values)).toEqual({ rejection: 'BOARD and LICENSE_NUMBER are too long to make an id' });
});

test('an id that would be too long for OpenSearch of an endorsement rejects only the endorsement', () => {
  const result = nurseRow({
    ...PRACTITIONER,
    BOARD: THREE_BYTES.repeat(71),
    ENDORSEMENT_NUMBER_1: THREE_BYTES.repeat(100),
    ENDORSEMENT_NUMBER_2: THREE_BYTES.repeat(99),
  });
  expect(documents(result)).toHaveLength(2);
  expect(result).toMatchObject({
    rejectedEndorsements: ['endorsement 1: BOARD and ENDORSEMENT_NUMBER are too long to make an id'],
  });
});

test('columns named like properties of objects are in extra_data, and change nothing else', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__', 'valueOf'];
  const values = Object.fromEntries(names.map((name) => [name, `of ${name}`]));
  const document = own(nurseRow(values, 2, [...INDIVIDUAL_COLUMNS, ...names]));
  const { extra_data: extra } = document;
  expect(Object.values(extra)).toEqual(expect.arrayContaining(names.map((name) => `of ${name}`)));
  expect(Object.getPrototypeOf(extra)).toBe(Object.prototype);
  const stored: unknown = JSON.parse(JSON.stringify(document));
  expect(stored).toMatchObject({ extra_data: { Constructor: 'of constructor' } });
});

test('an endorsement with a number is a license with its own type, status and dates, and the number of the license that it endorses', () => {
  const [rn, aprn, ...rest] = documents(nurseRow(PRACTITIONER, 7));
  expect(rest).toEqual([]);
  expect(rn).toMatchObject({ license_number: 'RN.123456', status: 'ACTIVE', source_row: 'individual:7:0' });
  expect(aprn).toEqual({
    ...nurseRecord({
      ...{ license_number: 'APRN.CNP.0012345', license_type: 'APRN - Certified Nurse Practitioner (CNP)' },
      ...{ status: 'INACTIVE', raw_status: 'Inactive - Lapsed' },
      ...{ issue_date: '2018-02-03', expiry_date: '2025-10-31' },
    }),
    extra_data: {
      'Endorsed License': 'RN.123456',
      'Endorsed License Status': 'Active',
      'Endorsed License Expiration Date': '2027-10-31',
      'Endorsed License Board Action': 'No',
      ...{ County: 'FRANKLIN', ZIP: '43215-1234', Country: 'United States', 'Issue Date': '2018-02-03' },
      ...{ 'Sub Category': 'Family', 'Board Action': 'Yes' },
    },
    source_row: 'individual:7:1',
    keys: expect.objectContaining({
      ...{ kind: 'person', number: 'APRNCNP0012345', name: 'NUR/EXAMPLE/JANEQ' },
      ...{ license_type: expect.arrayContaining(['CNP']), status: ['INACTIVE', 'INACTIVELAPSED'] },
    }),
  });
});

test('an endorsement with a number has no place if the row has none', () => {
  const places = { PARCEL_COUNTY: 'HIDDEN', PARCEL_ZIP_CODE: '', PARCEL_COUNTRY: 'HIDDEN' };
  const [, endorsement] = documents(nurseRow({ ...places, ENDORSEMENT_NUMBER_1: 'APRN.CNP.1' }));
  expect(endorsement?.county).toBeNull();
  expect(Object.keys(endorsement?.extra_data ?? {}).filter((label) => !label.startsWith('Endorsed'))).toEqual(
    [],
  );
});

test('an endorsement with a number stores status, expiry date and board action of the license that it endorses, also if they are blank', () => {
  const suspended = {
    STATUS: 'Inactive',
    SUB_STATUS: 'Suspended',
    BOARD_ACTION: 'Yes',
    EXPIRATION_DATE: '2025-08-31',
  };
  const ofEndorsed = (fields: Readonly<Record<string, string>>) => {
    const [, endorsement] = documents(nurseRow({ ...PRACTITIONER, ...fields }));
    return Object.entries(endorsement?.extra_data ?? {}).filter(([label]) => label.startsWith('Endorsed'));
  };
  expect(ofEndorsed(suspended)).toEqual([
    ['Endorsed License', 'RN.123456'],
    ['Endorsed License Status', 'Inactive'],
    ['Endorsed License Sub Status', 'Suspended'],
    ['Endorsed License Expiration Date', '2025-08-31'],
    ['Endorsed License Board Action', 'Yes'],
  ]);
  expect(ofEndorsed({ STATUS: '', SUB_STATUS: '', BOARD_ACTION: '', EXPIRATION_DATE: '' })).toEqual([
    ['Endorsed License', 'RN.123456'],
    ['Endorsed License Status', 'Not stated'],
  ]);
});

test('an endorsement with a number has null for a missing status, type or date, not that of the license that it endorses', () => {
  const [, endorsement] = documents(nurseRow({ ENDORSEMENT_NUMBER_1: 'APRN.CNP.0012345' }));
  expect(nullsOf(endorsement)).toBe('expiry_date issue_date license_type raw_status status');
  expect(endorsement?.extra_data).not.toHaveProperty('Issue Date');
});

test('an endorsement with a number is made for each number in the row, in any of the seven places', () => {
  const endorsed = { ENDORSEMENT_NUMBER_2: 'APRN.CNS.1', ENDORSEMENT_NUMBER_7: 'APRN.CNM.2' };
  const numbers = documents(nurseRow({ ...endorsed, ENDORSEMENT_TYPE_3: 'Other' })).map(
    ({ license_number: number, source_row: sourceRow }) => [number, sourceRow],
  );
  expect(numbers).toEqual([
    ['RN.123456', 'individual:2:0'],
    ['APRN.CNS.1', 'individual:2:2'],
    ['APRN.CNM.2', 'individual:2:7'],
  ]);
});

test('the row of a business gives the name unchanged', () => {
  const [license] = documents(businessRow({ BUSINESS_NAME: 'ACME DRUGS , LLC' }));
  expect(license?.full_name).toBe('ACME DRUGS , LLC');
});

test('the row of a business gives its license with the keys of both trade names', () => {
  const [license, ...rest] = documents(businessRow());
  expect(rest).toEqual([]);
  expect(license).toMatchObject({
    license_number: '021234567',
    full_name: 'ACME DRUGS LLC D.B.A CORNER PHARMACY',
    board: 'Board of Pharmacy',
    source_row: 'business:2:0',
    keys: { kind: 'business', name: 'PRX/ACMEDRUGS' },
    extra_data: {
      'Street Address': '1 MAIN ST',
      County: 'ALLEN',
      ZIP: '45801',
      'Issue Date': '2001-01-01',
    },
  });
  expect(license?.keys.business).toEqual(expect.arrayContaining(['PRX/CORNERPHARMACY', '/CORNERPHARMACY']));
});

describe('a row is rejected', () => {
  const REJECTED = cellsOf(`
LICENSEE_NAME | \u0020 | the name is blank
BOARD |  | BOARD is blank
LICENSE_NUMBER | \u0020 | LICENSE_NUMBER is blank
LICENSEE_NAME | X*1001 | the name is over 1000 characters
BOARD | X*201 | BOARD is over 200 characters
LICENSE_NUMBER | 1*101 | LICENSE_NUMBER is over 100 characters
ISSUE_DATE | 2027-02-30 | ISSUE_DATE "2027-02-30" is not a date
ISSUE_DATE | x*3000 | ISSUE_DATE "x*40" is not a date
EXPIRATION_DATE | never | EXPIRATION_DATE "never" is not a date
QUERY_RUN_DATE | today | QUERY_RUN_DATE "today" is not a date
QUERY_RUN_DATE | 2026-11-19 | QUERY_RUN_DATE is 2026-11-19, not 2026-11-20
QUERY_RUN_DATE | 11/19/2026 | QUERY_RUN_DATE is 2026-11-19, not 2026-11-20
LICENSE_NUMBER | -. | LICENSE_NUMBER has no letter and no digit
`);
  test.each(REJECTED)('whose %s is %.20j', (column = '', value = '', rejection = '') => {
    expect(nurseRow({ [column]: value })).toEqual({ rejection });
  });

  test.each(
    cellsOf(`
ENDORSEMENT_EXPIRATION_DATE_7 | 13/13/2025 | endorsement 7: ENDORSEMENT_EXPIRATION_DATE "13/13/2025" is not a date
ENDORSEMENT_ISSUE_DATE_1 | 2018 | endorsement 1: ENDORSEMENT_ISSUE_DATE "2018" is not a date
ENDORSEMENT_NUMBER_2 | .- | endorsement 2: ENDORSEMENT_NUMBER has no letter and no digit
ENDORSEMENT_NUMBER_5 | 1*101 | endorsement 5: ENDORSEMENT_NUMBER is over 100 characters
`),
  )('except that only the endorsement is, whose %s is %s', (column = '', value = '', rejection = '') => {
    const number = { [`ENDORSEMENT_NUMBER_${column.at(-1)}`]: 'APRN.CNP.0012345' };
    expect(nurseRow({ ...number, [column]: value })).toMatchObject({
      documents: [{ license_number: 'RN.123456' }],
      rejectedEndorsements: [rejection],
    });
  });

  test('if it could not be read as CSV', () => {
    const header = mapHeader('individual', INDIVIDUAL_COLUMNS);
    const row = { line: 9, fields: [], raw: '"x"y', problem: 'has text after a closing quote' };
    expect(licensesOfRow(row, header, RUN_DATE)).toEqual({ rejection: 'has text after a closing quote' });
  });

  test('but not for values as long as allowed', () => {
    const values = {
      LICENSEE_NAME: 'X'.repeat(1000),
      BOARD: 'X'.repeat(200),
      LICENSE_NUMBER: '1'.repeat(100),
    };
    expect(own(nurseRow(values)).license_number).toBe('1'.repeat(100));
  });
});
