import { createRandom, type Random } from '../../sample-data/generator/random.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { daysBefore, todayInOhio } from '../../src/licenses/dates.ts';
import type { StoredLicense } from '../../src/licenses/license.ts';
import { type FixtureRow, nurseRow, times } from './fixtures.ts';

/** The fields of a question, with the names of the REST API. The value of a field may be something other than text. */
export const QUESTION_FIELDS = [
  ...(['board', 'license_number', 'last_name', 'first_name', 'search_type', 'business_name'] as const),
  ...(['license_type', 'status', 'city', 'county'] as const),
];

/** A question, as a client sends it to /lookup/verify or in a roster item. */
export type Question = { readonly [Field in QuestionField]?: unknown };

type QuestionField = (typeof QUESTION_FIELDS)[number];

/** The text of a field without surrounding blanks; empty if the field is missing, blank, or not text. */
export function textOf(question: Question, field: QuestionField): string {
  const value = question[field];
  return typeof value === 'string' ? value.trim() : '';
}

const endorsed = (number: string): FixtureRow => ({
  ...{ ENDORSEMENT_NUMBER_1: number, ENDORSEMENT_TYPE_1: 'APRN - Certified Nurse Practitioner (CNP)' },
  ...{ ENDORSEMENT_STATUS_1: 'Active', ENDORSEMENT_EXPIRATION_DATE_1: '2099-10-31' },
});

/**
 * Licenses for which interfaces gave different answers before, or easily could. Generated files contain few of them.
 */
export const ODD_ROWS: readonly FixtureRow[] = [
  // The same number at two boards.
  nurseRow('SHARED, NURSE', 'RN.72.0001'),
  nurseRow('SHARED, DOCTOR', 'RN.72.0001', { BOARD: 'Medical Board', TYPE: 'Doctor of Medicine (MD)' }),
  nurseRow('SHARED, SPEECH', 'SP.72001', { BOARD: 'Speech and Hearing Professionals Board', TYPE: '' }),
  nurseRow('SHARED, SCHOOL', 'SP.72001', { BOARD: 'Psychology Board', TYPE: '', STATUS: 'Inactive' }),
  // Two numbers of one board that look the same in some spellings.
  ...times(8, (at) => nurseRow('TWIN, DOT', `RN.71.000${at}`)),
  ...times(8, (at) => nurseRow('TWIN, NODOT', `RN.710.00${at}`)),
  // A name with more matches than a lookup returns.
  ...times(6, (at) => nurseRow('CROWD, FIRST', `RN.75900${at}`, { STATUS: 'Inactive' })),
  // Endorsements whose own row is clear.
  nurseRow('ENDORSED, SUSPENDED', 'RN.730001', {
    ...endorsed('APRN.CNP.730001'),
    ...{ STATUS: 'Inactive', SUB_STATUS: 'Suspended' },
  }),
  nurseRow('ENDORSED, ACTED ON', 'RN.730002', { ...endorsed('APRN.CNP.730002'), BOARD_ACTION: 'Yes' }),
  nurseRow('ENDORSED, PAST', 'RN.730003', { ...endorsed('APRN.CNP.730003'), EXPIRATION_DATE: '2019-10-31' }),
  nurseRow('ENDORSED, RENEWING', 'RN.730004', {
    ...endorsed('APRN.CNP.730004'),
    SUB_STATUS: 'Active In Renewal',
  }),
  nurseRow('ENDORSED, CLEAR', 'RN.730005', endorsed('APRN.CNP.730005')),
  // Names that are parsed in an unusual way.
  nurseRow('COMMALESS,MARY', 'RN.740001'),
  nurseRow('SINGLENAME', 'RN.740002', { BOARD_ACTION: 'Yes' }),
  nurseRow('BLANKJUNIOR JR , MARTIN LEE', 'RN.740003', { SUB_STATUS: 'Probation' }),
  nurseRow('DE LA ODD-CRUZ III, MARÍA ELENA', 'RN.740004', { STATUS: '' }),
  nurseRow("O'ODD, ANNE, MARIE", 'RN.740005', { STATUS: 'Closed', SUB_STATUS: 'Deceased' }),
  nurseRow('-', 'RN.740006'),
  nurseRow(', ONLYGIVEN', 'RN.740007'),
  nurseRow('COMMAS, JR, MARTIN', 'RN.740008', { BOARD_ACTION: 'Yes' }),
  // Notes or cautions about a date or an endorsement.
  nurseRow('DATELESS, DORA', 'RN.760001', { EXPIRATION_DATE: '' }),
  nurseRow('CONFLICT, CORA', 'RN.760002', { ISSUE_DATE: '2020-01-01', EXPIRATION_DATE: '2015-10-31' }),
  nurseRow('SOON, SUE', 'RN.760003', { EXPIRATION_DATE: daysBefore(todayInOhio(), -10) }),
  nurseRow('LAPSING, LEA', 'RN.760004', { ...endorsed('APRN.CNP.760004'), ENDORSEMENT_STATUS_1: 'Inactive' }),
  nurseRow('ACTION, ADA', 'RN.760005', { BOARD_ACTION: 'Consent Agreement' }),
  // The dates have passed since the State wrote the file.
  nurseRow('PASSED, PAT', 'RN.760006', { EXPIRATION_DATE: daysBefore(todayInOhio(), 1) }),
  nurseRow('PASSING, PIA', 'RN.760007', {
    ...endorsed('APRN.CNP.760007'),
    ENDORSEMENT_EXPIRATION_DATE_1: daysBefore(todayInOhio(), 1),
  }),
];

const LEFT = times(6, (at) => nurseRow(`LEFT, LOU ${at}`, `RN.77000${at}`, { SUB_STATUS: 'Probation' }));

/** Rows of the first of two days: licenses that are missing or unreadable on the second day. */
export const FIRST_DAY_ROWS = LEFT;
export const SECOND_DAY_ROWS = LEFT.slice(0, 3).map((row) => ({ ...row, EXPIRATION_DATE: 'soon' }));

/** Questions about licenses that the second day no longer has. */
export const LEFT_QUESTIONS: readonly Question[] = LEFT.flatMap(({ LICENSE_NUMBER: number = '' }) => [
  { board: 'Nursing Board', license_number: number },
  { board: 'Nursing Board', license_number: number.replace('.', ' ').toLowerCase(), last_name: 'Left' },
  { board: 'Dental Board', license_number: number },
  { license_number: number },
]);

/** Many people with the same surname. */
export const CROWD = times(110, (at) => nurseRow(`CROWD, GIVEN ${at}`, `RN.${750_000 + at}`));

/** The numbers of the unusual rows and of their endorsements. */
export const ODD_NUMBERS = ODD_ROWS.flatMap(({ LICENSE_NUMBER, ENDORSEMENT_NUMBER_1 }) =>
  [LICENSE_NUMBER, ENDORSEMENT_NUMBER_1].filter((number) => number !== undefined),
);

type Habit = (license: StoredLicense, random: Random) => Question;

const surnameOf = ({ full_name: name }: StoredLicense): string => name.replace(/,.*/, '');

const givenOf = ({ full_name: name }: StoredLicense): string => name.replace(/^[^,]*,?\s*/, '');

/** Replaces one of the last four digits. */
function mistyped(number: string, random: Random): string {
  const at = number.length - 1 - Math.floor(random() * 4);
  return number.slice(0, at) + String(Math.floor(random() * 10)) + number.slice(at + 1);
}

function withoutLetter(text: string, random: Random): string {
  const at = 1 + Math.floor(random() * (text.length - 2));
  return text.slice(0, at) + text.slice(at + 1);
}

function anyOf<Thing>(things: readonly Thing[], random: Random): Thing {
  const thing = things[Math.floor(random() * things.length)];
  if (thing === undefined) throw new Error('There is nothing to choose from.');
  return thing;
}

/** Spellings of a number that all mean the same. */
const WAYS: readonly ((number: string) => string)[] = [
  (number) => ` ${number.toLowerCase().replace(/\W/g, ' ')}`,
  (number) => number.replace(/\W/g, ''),
  (number) => number.replace(/\W/g, '/'),
  (number) => `\t${number.replace(/\W/g, ' - ')} `,
  (number) => number.toLowerCase().replace(/\W/g, '\u2013'),
  (number) => number.split('').join(' '),
];

const NONSENSE = [
  ...['Xqzzkwv', '***', "' OR 1=1 --", 'Smith*', '=1+1', '\u{1f9ff}', '\u03a3', '0', 'a'.repeat(200)],
];

const number: Habit = ({ board, license_number }) => ({ board, license_number });

const OF_EVERYBODY: readonly Habit[] = [
  number,
  number,
  ({ board, license_number: written }, random) => ({ board, license_number: anyOf(WAYS, random)(written) }),
  ({ board, license_number: written }, random) => ({ board, license_number: anyOf(WAYS, random)(written) }),
  ({ board, license_number: written }, random) => ({ board, license_number: mistyped(written, random) }),
  ({ license_number }) => ({ board: 'Dental Board', license_number }),
  ({ license_number }, random) => ({ board: anyOf(BOARDS, random).name, license_number }),
  ({ license_number: written }, random) => ({ license_number: anyOf(WAYS, random)(written) }),
  ({ license_number }) => ({ license_number }),
  ({ board, license_number }) => ({ board, license_number, search_type: 'business' }),
  ({ board, license_number }) => ({ board, license_number, last_name: 'Somebody' }),
  ({ board, license_number }) => ({ board, license_number, license_type: 'Astronaut', city: 'Nowhere' }),
  ({ board, license_number }) => ({ board, license_number, last_name: ' ', first_name: '', city: '\t' }),
];

/** Nonsense that no interface understands. */
const HOPELESS: readonly Habit[] = [
  ({ board }, random) => ({ board, last_name: anyOf(NONSENSE, random), first_name: 'Mary' }),
  ({ board }, random) => ({ board, license_number: anyOf(NONSENSE, random) }),
  ({ board }, random) => ({ board, search_type: 'business', business_name: anyOf(NONSENSE, random) }),
  ({ board }) => ({ board, license_number: '9'.repeat(250) }),
  ({ board }) => ({ board }),
  ({ board }) => ({ board, license_number: '  ', last_name: '', business_name: '\t' }),
  ({ board, license_number }) => ({ board: board.toLowerCase(), license_number }),
  ({ board }) => ({ board, last_name: ' - ' }),
  ({ board }) => ({ board, first_name: 'Mary' }),
  ({ board }) => ({ board, license_number: 5 }),
  ({ board }) => ({ board, search_type: 'firm', last_name: 'Smith' }),
  ({ board }) => ({ board, search_type: 'business', last_name: 'Smith' }),
];

/** What is asked beside a person's board and surname. */
const BESIDE_SURNAME: readonly Habit[] = [
  ({ license_number }) => ({ license_number }),
  (license) => ({ license_number: license.license_number, first_name: givenOf(license).slice(0, 4) }),
  () => ({}),
  () => ({}),
  () => ({ license_number: ' ', first_name: '\t', city: '' }),
  (license) => ({ first_name: givenOf(license).slice(0, 1) }),
  (license) => ({ first_name: givenOf(license).slice(0, 3) }),
  (license) => ({ first_name: givenOf(license).slice(0, 3) }),
  (license) => ({ first_name: givenOf(license) }),
  ({ city }) => ({ city }),
  ({ license_type }) => ({ status: 'active', license_type }),
  () => ({ license_type: 'Astronaut' }),
  () => ({ city: 'Nowhere' }),
  ({ status }) => ({ status: status === 'CLOSED' ? 'Active' : 'closed' }),
  () => ({ first_name: 'Xq' }),
  (license, random) => ({ last_name: withoutLetter(surnameOf(license), random) }),
  (_license, random) => ({ board: anyOf(BOARDS, random).name }),
  (license) => ({ last_name: undefined, search_type: 'business', business_name: surnameOf(license) }),
];

const OF_PERSONS = BESIDE_SURNAME.map(
  (habit): Habit =>
    (license, random) => ({ board: license.board, last_name: surnameOf(license), ...habit(license, random) }),
);

/** What is asked beside a business's board and name, or in place of them. */
const BESIDE_NAME: readonly Habit[] = [
  ({ license_number }) => ({ license_number }),
  ({ license_number }) => ({ license_number, business_name: 'Somebody Else Inc' }),
  ({ full_name }) => ({ business_name: full_name.slice(0, 8) }),
  ({ city }) => ({ city }),
  () => ({ city: 'Nowhere' }),
  () => ({ board: undefined }),
  ({ full_name }) => ({ business_name: full_name.split(' ').toReversed().join(' ') }),
  ({ full_name }, random) => ({ business_name: anyOf(full_name.split(' '), random) }),
  ({ full_name }, random) => ({ business_name: withoutLetter(full_name, random) }),
  () => ({ search_type: undefined }),
  ({ full_name }) => ({ search_type: undefined, business_name: undefined, last_name: full_name }),
];

const OF_BUSINESSES = BESIDE_NAME.map(
  (habit): Habit =>
    (license, random) => {
      const { board, full_name: business_name } = license;
      return { board, search_type: 'business', business_name, ...habit(license, random) };
    },
);

/** There are few unusual licenses, so every fourth question is about one of them. */
const SHARE_OF_ODD = 0.25;

/** Questions about these licenses as people ask them: correct, mistyped and impossible ones. */
export function questionsAbout(
  licenses: readonly StoredLicense[],
  odd: readonly StoredLicense[],
  count: number,
  seed: number,
): Question[] {
  const random = createRandom(seed, 'questions');
  return Array.from({ length: count }, () => {
    const license = anyOf(random() < SHARE_OF_ODD ? odd : licenses, random);
    const own = license.keys.kind === 'person' ? OF_PERSONS : OF_BUSINESSES;
    return anyOf([...own, ...own, ...OF_EVERYBODY, ...OF_EVERYBODY, ...HOPELESS], random)(license, random);
  });
}
