import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DayFiles } from '../published.ts';

/** Values of one row by column name; columns that are left out stay empty. */
type Row = Readonly<Record<string, string>>;

/** The run dates of the two days. */
const DAY_BEFORE = '2026-11-19';
const DATE = '2026-11-20';

const MEDICAL = 'Medical Board';
const PHARMACY = 'Board of Pharmacy';
const COUNSELORS = 'Counselor, Social Worker and Marriage and Family Therapist Board';
const THERAPISTS = 'Occupational Therapy, Physical Therapy, and Athletic Trainers Board';

/** A place in Ohio. */
function at(city: string, county: string): Row {
  return { PARCEL_CITY: city, PARCEL_STATE: 'OH', PARCEL_COUNTY: county };
}

const COLUMBUS = at('COLUMBUS', 'Franklin');
const AKRON = at('AKRON', 'Summit');
const DAYTON = at('DAYTON', 'Montgomery');
const TOLEDO = at('TOLEDO', 'Lucas');
const CINCINNATI = at('CINCINNATI', 'Hamilton');

/** An active registered nurse; the values replace fields. */
function nurse(name: string, number: string, ...values: readonly Row[]): Row {
  const row = {
    LICENSEE_NAME: name,
    BOARD: 'Nursing Board',
    LICENSE_NUMBER: number,
    TYPE: 'Registered Nurse (RN)',
    STATUS: 'Active',
    BOARD_ACTION: 'No',
    PARCEL_CITY: 'LIMA',
    PARCEL_STATE: 'OH',
    PARCEL_COUNTY: 'Allen',
    ISSUE_DATE: '2000-01-01',
    EXPIRATION_DATE: '2027-12-31',
  };
  return Object.assign(row, ...values);
}

/** A holder at another board than the Nursing Board. */
function holder(
  [BOARD, TYPE]: readonly [board: string, type: string],
  name: string,
  number: string,
  ...values: readonly Row[]
): Row {
  return nurse(name, number, { BOARD, TYPE }, ...values);
}

const LPN = { TYPE: 'Licensed Practical Nurse (LPN)' };
const MD = [MEDICAL, 'Doctor of Medicine (MD)'] as const;
const DO = [MEDICAL, 'Doctor of Osteopathic Medicine (DO)'] as const;

/** The persons in the questions, all invented. */
const PERSONS: readonly Row[] = [
  nurse('HOLLOWAY, BEATRICE ANN', 'RN.900418822', COLUMBUS, {
    EXPIRATION_DATE: '2027-10-31',
    COMPACT_ELIGIBILITY: 'Multi-State',
  }),
  nurse('OKONKWO, DANIEL', 'RN.900500311', TOLEDO, {
    STATUS: 'Inactive',
    SUB_STATUS: 'Expired',
    EXPIRATION_DATE: '2019-10-31',
  }),
  nurse('GARRISON, PAUL LEE', 'RN.900377120', AKRON, {
    SUB_STATUS: 'Probation',
    BOARD_ACTION: 'Yes',
    EXPIRATION_DATE: '2027-10-31',
  }),
  nurse('PETRAKIS, HELEN', 'RN.900433210', CINCINNATI, {
    STATUS: 'Inactive',
    SUB_STATUS: 'Suspended',
    BOARD_ACTION: 'Yes',
    EXPIRATION_DATE: '2027-10-31',
  }),
  nurse('TREMBLAY, JOAN', 'PN.900120044', LPN, { EXPIRATION_DATE: '2025-08-31' }),
  nurse('WHITFIELD, SARAH JANE', 'RN.900402255', DAYTON, { EXPIRATION_DATE: '2027-10-31' }),
  nurse('WHITFIELD, SARAH JANE', 'PN.900118830', at('CANTON', 'Stark'), LPN, {
    STATUS: 'Inactive',
    SUB_STATUS: 'Lapsed',
    EXPIRATION_DATE: '2018-08-31',
  }),
  nurse('FARROW, LINDA', 'RN.900266001', COLUMBUS, {
    EXPIRATION_DATE: '2027-10-31',
    ENDORSEMENT_NUMBER_1: 'APRN.CNP.0900144500',
    ENDORSEMENT_TYPE_1: 'APRN - Certified Nurse Practitioner (CNP)',
    ENDORSEMENT_STATUS_1: 'Active',
    ENDORSEMENT_EXPIRATION_DATE_1: '2027-10-31',
  }),
  nurse("O'DELL-MARSH, KATHLEEN", 'RN.900455777', AKRON),
  nurse('DE LA FUENTE, ROSA', 'RN.900460012', TOLEDO),
  nurse('VANTERPOOL, MARYANN', 'RN.900461100', COLUMBUS),
  nurse('ABERNATHY JR, WILLIAM T', 'RN.900300450', DAYTON, {
    STATUS: 'Closed',
    SUB_STATUS: 'Deceased',
    EXPIRATION_DATE: '2013-10-31',
  }),
  ...Array.from({ length: 120 }, (_, at) => at + 1).map((number) =>
    nurse(`BAXTER, GIVEN${String(number).padStart(3, '0')} MARIE ELIZABETH`, `RN.${900_720_000 + number}`, {
      ...(number === 77 ? at('MARIETTA', 'Washington') : COLUMBUS),
      EXPIRATION_DATE: '2027-10-31',
    }),
  ),
  holder(MD, 'VANCE, MARCUS ALAN', '35.900088812', at('CLEVELAND', 'Cuyahoga'), {
    STATUS: 'Inactive',
    SUB_STATUS: 'Permanent Revocation',
    BOARD_ACTION: 'Yes',
    EXPIRATION_DATE: '2020-04-01',
  }),
  holder(DO, 'QUILL, THERESA', '34.900012345', CINCINNATI, { EXPIRATION_DATE: '2027-07-01' }),
  holder(MD, 'NAKAMURA, KENJI', '35.900140001', COLUMBUS, { EXPIRATION_DATE: '2027-04-01' }),
  holder([MEDICAL, 'Massage Therapist (MT)'], 'LINDQVIST, INGRID', '33.900020202', AKRON),
  holder([PHARMACY, 'Pharmacist'], 'ESTRADA, CARLOS', '03900123456', TOLEDO, {
    EXPIRATION_DATE: '2027-09-15',
  }),
  holder([COUNSELORS, 'Licensed Professional Clinical Counselor (LPCC)'], 'BRANDT, NORA', 'E.901700021'),
  holder(
    [COUNSELORS, 'Licensed Professional Clinical Counselor with Supervision (LPCC-S)'],
    'KESSLER, AMOS',
    'E.901700021-SUPV',
  ),
  holder(['Psychology Board', 'School Psychologist'], 'HARTE, JUNE', 'SP.900004567'),
  holder(
    ['Speech and Hearing Professionals Board', 'Speech-Language Pathologist'],
    'ODUYA, GRACE',
    'SP.900004567',
  ),
  holder(['Dental Board', 'Dentist'], 'RUSK, ALAN', '30.900021111', DAYTON, {
    EXPIRATION_DATE: '2027-12-31',
  }),
  holder(['Accountancy Board', 'Certified Public Accountant'], 'STERLING, VICTOR', 'CPA.900033210', COLUMBUS),
  holder(['Cosmetology and Barber Board', 'Manicurist'], 'PHAM, LAN', 'MAN.900090210', COLUMBUS),
  holder(['Chiropractic Board', 'Chiropractor'], 'BELL, OTIS', 'DC-900004321', AKRON),
  holder(['Engineers and Surveyors Board', 'Professional Engineer'], 'ROWE, DIANE', 'PE.900077001', TOLEDO),
  holder([THERAPISTS, 'Physical Therapist'], 'IVERSEN, TOM', 'PT.900017777', COLUMBUS),
  holder(['Department of Agriculture', 'Auctioneer'], 'GRABLE, HANK', 'AUC.900005511'),
];

/** An active license of a business; the values replace fields. */
function establishment(
  [board_name, license_type]: readonly [board: string, type: string],
  name: string,
  number: string,
  place: readonly [street: string, city: string, county: string],
  values: Row = {},
): Row {
  const [parcel_street_address, parcel_city, parcel_county] = place;
  return {
    ...{ business_name: name, license_number: number, board_name, license_type, license_status: 'Active' },
    ...{ parcel_street_address, parcel_city, parcel_county, parcel_state: 'OH' },
    ...{ license_issue_date: '2000-01-01', license_expiration_date: '2027-12-31' },
    ...values,
  };
}

const DRUGS = [PHARMACY, 'Terminal Distributor of Dangerous Drugs'] as const;
const SALON = ['Cosmetology and Barber Board', 'Beauty Salon'] as const;

/** The businesses in the questions, all invented. */
const BUSINESSES: readonly Row[] = [
  establishment(SALON, 'SHEAR GRACE SALON LLC', 'COSS.900091001', ['12 MAPLE ST', 'LIMA', 'Allen'], {
    license_expiration_date: '2027-01-31',
  }),
  establishment(SALON, 'SHEAR GRACE SALON LLC', 'COSS.900091002', ['480 ELM AVE', 'LIMA', 'Allen'], {
    license_status: 'Inactive',
    sub_status: 'Expired',
    license_expiration_date: '2023-01-31',
  }),
  establishment(DRUGS, 'RIVERBEND PHARMACY #12', '02912000012', ['9 RIVER RD', 'DAYTON', 'Montgomery']),
  establishment(DRUGS, 'RIVERBEND PHARMACY #14', '02912000014', ['700 LAKE ST', 'TOLEDO', 'Lucas']),
  establishment(
    DRUGS,
    'MAPLE HEALTH LLC D.B.A QUAIL HOLLOW DRUGS',
    '02912345678',
    ['1 QUAIL LN', 'AKRON', 'Summit'],
    { license_expiration_date: '2027-03-31' },
  ),
  establishment(
    ['Embalmers and Funeral Directors Board', 'Funeral Home'],
    'HALVORSEN FUNERAL HOME INC',
    'FH.900088001',
    ['3 CHAPEL RD', 'MARIETTA', 'Washington'],
  ),
  establishment(
    ['Motor Vehicle Repair Board', 'Motor Vehicle Repair Shop'],
    "BUD'S COLLISION CENTER",
    'MVR.900066001',
    ['55 GARAGE WAY', 'CANTON', 'Stark'],
    { license_status: 'Inactive', sub_status: 'Suspended' },
  ),
  establishment(
    ['Engineers and Surveyors Board', 'Engineering and Surveying Firm'],
    'TRIDENT ENGINEERING GROUP LTD',
    'COA.900004400',
    ['1000 TOWER PL', 'COLUMBUS', 'Franklin'],
  ),
];

/** What the day before said differently of some persons, by number. */
const EARLIER: Readonly<Record<string, Row>> = {
  'RN.900418822': { EXPIRATION_DATE: '2025-10-31' },
  'RN.900433210': { STATUS: 'Active', SUB_STATUS: '', BOARD_ACTION: 'No' },
};

/** A person of the day before who is no longer listed. */
const FORMER_NURSE = nurse('MARCHETTI, RENATA', 'RN.900350077', DAYTON);

/** Writes the files of two days; the questions are asked on the second. */
export async function evaluationDays(folder: string): Promise<readonly DayFiles[]> {
  const earlier = PERSONS.map((person) => ({ ...person, ...EARLIER[person.LICENSE_NUMBER ?? ''] }));
  return [
    await writeDay(join(folder, DAY_BEFORE), DAY_BEFORE, [...earlier, FORMER_NURSE]),
    await writeDay(join(folder, DATE), DATE, PERSONS),
  ];
}

async function writeDay(folder: string, date: string, persons: readonly Row[]): Promise<DayFiles> {
  await mkdir(folder, { recursive: true });
  const files = { individual: join(folder, 'individual.csv'), business: join(folder, 'business.csv') };
  await writeFile(files.individual, csv(persons.map((row) => ({ ...row, QUERY_RUN_DATE: date }))));
  await writeFile(files.business, csv(BUSINESSES.map((row) => ({ ...row, query_run_date: date }))));
  return files;
}

function csv(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => columns.map((name) => `"${row[name] ?? ''}"`).join(','));
  return `${[columns.join(','), ...lines].join('\n')}\n`;
}
