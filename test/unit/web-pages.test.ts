import { expect, test } from '@jest/globals';
import type { Origin } from '../../src/answers/origin.ts';
import { viewOf } from '../../src/answers/view.ts';
import type { LicenseRecord } from '../../src/licenses/license.ts';
import type { InvalidLookup, LookupOutcome, Miss } from '../../src/licenses/lookup.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import { aboutBody } from '../../src/web/about-page.ts';
import { dataBody } from '../../src/web/data-page.ts';
import { licenseBody } from '../../src/web/license-pages.ts';
import { listRow, listTitle, rowSections } from '../../src/web/list-rows.ts';
import { html, pageHtml } from '../../src/web/page.ts';
import { pageText } from '../support/page-text.ts';
import { nurseRecord } from '../support/records.ts';

const DATE = '2026-11-20';
const TODAY = '2026-11-21';

const frame = (readOn: string, isSampleData = false) =>
  pageText(
    pageHtml(
      { title: 'T', origin: { date: DATE, isSampleData }, readOn, body: html`<p>body</p>` },
      { styleSheet: '/s', script: '/j' },
      '/about',
    ),
  );
const OLD = 'days old. Ask the board about anything after November 20, 2026.';

test.each([
  ['2026-11-20', 'State data dated November 20, 2026. This', OLD],
  ['2026-11-21', 'State data dated November 20, 2026, read November 21, 2026 (1 day old).', OLD],
  ['2026-11-27', 'read November 27, 2026 (7 days old).', OLD],
  ['2026-11-28', `On November 28, 2026, the data was 8 ${OLD}`, 'not come yet'],
  ['2026-11-19', 'The data has the date November 20, 2026, which has not come yet. Do not rely on it.', OLD],
])(
  'the frame of a page read on %s says how old the data is, aloud where it is really old',
  (readOn, said, notSaid) => {
    expect(frame(readOn)).toContain(said);
    expect(frame(readOn)).not.toContain(notSaid);
    expect(frame(readOn)).not.toContain('Sample data.');
    expect(frame(readOn)).toContain('The issuing board is the authority. This is not primary-source');
    expect(frame(readOn, true)).toContain('Sample data. Generated: no real person or business.');
  },
);

const facts = (fields: Partial<LicenseRecord> = {}) => pageText(licenseBody(nurseRecord(fields), [], TODAY));
const extra_data = nurseRecord().extra_data;

test('each fact of a license is shown once: the address without the own country, a date by one name, nothing that is not given', () => {
  const shown = facts({
    extra_data: {
      ...extra_data,
      ...{ Country: 'UNITED STATES', 'Street Address': '1 MAIN ST', 'Effective Date': '2015-06-01' },
      ...{ 'Endorsement Number 1': 'APRN.1', 'Endorsement Status 1': 'Active' },
      ...{ 'Endorsement Type 2': 'Certificate', 'Endorsement Status 2': 'Active' },
    },
  });
  expect(shown).toContain('Address 1 Main St, Columbus, OH 43215, Franklin County Endorsements');
  expect(shown).toContain(
    'Expires October 31, 2027 (in 344 days) Board action Not given by the State Issued June 1',
  );
  for (const part of ['United States', 'Effective Date', 'Endorsement Status 1', 'Last change'])
    expect(shown).not.toContain(part);
  expect(shown).toContain('Endorsements without a number Endorsement Type 2 Certificate');
  expect(facts({ extra_data: { ...extra_data, Country: 'CANADA', 'Effective Date': '2020-01-01' } })).toMatch(
    /Franklin County, Canada Effective Date January 1, 2020$/,
  );
  const nothing = {
    ...{ city: null, state: null, county: null, expiry_date: null, issue_date: null },
    extra_data: {},
  };
  expect(facts(nothing).match(/Not given by the State/g)).toHaveLength(4);
});

test('an endorsement among the facts of a license has the worse standing of its license', () => {
  const shown = facts({
    extra_data: {
      'Board Action': 'Yes',
      'Endorsement Number 1': 'APRN.1',
      'Endorsement Status 1': 'Active',
    },
  });
  expect(shown).toContain('APRN.1 ! Active ! No expiry date ! License RN.123456: Active, board action');
});

const origin: Origin = { publication: 'p', date: DATE, today: TODAY, isSampleData: false };
const request = { by: 'number', number: '3512345', board: undefined, businessOnly: false } as const;
const found = (fields: Partial<LicenseRecord> = {}, nameMatch?: boolean): LookupOutcome => ({
  ...{ outcome: 'found', record: nurseRecord(fields) },
  ...(nameMatch !== undefined && { nameMatch }),
});
const miss = (fields: Partial<Miss>): LookupOutcome => ({
  ...{ outcome: 'none', reason: 'unknown', request, didYouMean: [] },
  ...fields,
});
const rowOf = (outcome: LookupOutcome | InvalidLookup, foundBy?: 'name', license_number = '3512345') =>
  listRow(
    { view: viewOf(outcome, origin, foundBy), suggestionsOmitted: false },
    { number: 4, fields: { license_number } },
  );
const shown = (...parts: Parameters<typeof rowOf>) => pageText(rowSections([rowOf(...parts)], TODAY));

test('a row of a list is not clear if only a surname was sent', () => {
  const named = (isNamePartial: boolean) =>
    ({ outcome: 'found', record: nurseRecord(), isNamePartial }) as const;
  const needs = [false, true].map((isPartial) => rowOf(named(isPartial), 'name').need);
  expect(needs).toEqual(['clear', 'attention']);
});

test('a row of a list that is clear says what the State does not, and has its notes', () => {
  expect(shown(found())).toMatch(
    /^Clear: 1 row .* ✓ Active Board action: not given by the State Oct 31, 2027$/,
  );
  const no = { 'Board Action': 'No' };
  expect(shown(found({ extra_data: no }))).not.toContain('Board action');
  const endorsement = { ...no, 'Endorsement Number 1': 'APRN.1', 'Endorsement Status 1': 'Inactive' };
  expect(shown(found({ expiry_date: '2026-12-01', extra_data: endorsement }))).toMatch(
    /^Clear: .* ✓ Active i Expires soon i Look at its endorsement Dec 1, 2026 Active until .* endorsement APRN\.1, too: Inactive\.$/,
  );
  const acted = { ...endorsement, 'Endorsement Status 1': 'Active', 'Endorsement Board Action 1': 'Yes' };
  expect(shown(found({ extra_data: acted }))).toContain(
    'Look at its endorsement APRN.1, too: Active, the board has acted on it.',
  );
  const endorsing = {
    ...{ ...no, 'Endorsed License': 'RN.1', 'Endorsed License Status': 'Active' },
    'Endorsed License Expiration Date': '2099-01-01',
  };
  expect(shown(found({ extra_data: endorsing }))).toContain('Board action: not given by the State');
  const ofBoth = { ...endorsing, 'Endorsed License Board Action': 'No' };
  expect(shown(found({ extra_data: ofBoth }))).not.toContain('not given by the State');
});

test.each<[outcome: LookupOutcome | InvalidLookup, foundBy: 'name' | undefined, words: string]>([
  [found({ extra_data: { 'Board Action': 'Yes' } }), undefined, '! Board action Oct 31, 2027 Active until'],
  [found({ raw_status: 'Active - Probation' }), undefined, '! Active - Probation ! Board action'],
  [found({}, false), undefined, '! Name does not match ! Active'],
  [found({ expiry_date: null }), undefined, '! No expiry date Not given'],
  [found(), 'name', 'This is the only match'],
  [
    { outcome: 'several', records: [nurseRecord(), nurseRecord()], truncated: true },
    'name',
    'More than 2 licenses fit.',
  ],
  [
    miss({ didYouMean: ['35.12345'], ofTheName: ['35.12345'] }),
    undefined,
    'has that name. Did you mean 35.12345?',
  ],
])('a row of a list needs attention, %#', (outcome, foundBy, words) => {
  const text = shown(outcome, foundBy);
  if (foundBy === 'name' && outcome.outcome === 'found') expect(text).toMatch(/^Clear: /);
  else expect(text).toMatch(/^Look at each of these: 1 row/);
  expect(text).toContain(words);
});

test('a row of a list that is not found names the holders, types and standing of similar numbers', () => {
  const offered = [
    nurseRecord({ license_number: 'RN.2', extra_data: { 'Board Action': 'Yes' } }),
    nurseRecord({ license_number: 'RN.1', full_name: 'OTHER, ANN', raw_status: 'Active - Suspended' }),
  ];
  const similar = { didYouMean: ['RN.1', 'RN.2'], offered };
  expect(shown(miss(similar))).toContain(
    'November 20, 2026. RN.1: Other, Ann, Registered Nurse (RN), Active - Suspended, board action. RN.2: Example, Jane Q, Registered Nurse (RN), Active, board action. Did you mean RN.1 or RN.2?',
  );
  const ofTheName = shown(miss({ ...similar, ofTheName: ['RN.2'] }));
  expect(ofTheName).toMatch(/has that name\. RN\.2: Example, Jane Q, .* Did you mean RN\.2\?/);
  expect(ofTheName).not.toContain('Other');
  expect(shown(miss({ ...similar, reason: 'ambiguous' }))).toMatch(
    /Send it as the board writes it\. RN\.1: Other, Ann, .*RN\.2: Example, Jane Q, [^?]*$/,
  );
});

test('a row of a list by name has similar names', () => {
  const request = { by: 'person', lastName: 'Smiht', filters: {} } as const;
  expect(shown(miss({ request, didYouMean: ['SMITH', 'SMYTHE'] }))).toMatch(
    /matches the name “Smiht” .* Similar names: SMITH; SMYTHE\.$/,
  );
});

test('a row of a list says where nobody looked for what may be meant', () => {
  const omitted = (outcome: LookupOutcome) =>
    listRow(
      { view: viewOf(outcome, origin), suggestionsOmitted: true },
      { number: 4, fields: { license_number: 'RN.1' } },
    ).note;
  expect(omitted(miss({}))).toContain('Only the first 50 rows not found get suggestions: look this one up');
  const left = { last_in_dataset: '2026-11-19', last_raw_status: 'Active' };
  const removed = omitted(miss({ reason: 'removed', left }));
  expect(removed).toContain('It was last in the dataset of November 19, 2026');
  expect(removed).not.toContain('first 50 rows');
});

test.each([
  ['35.991001', '35.9910010', true],
  ['129', '000129', true],
  ['RN129', 'RN.1290', false],
])('a row of a list %s with the similar number %s: whether zeros were lost is %s', (typed, near, isLost) => {
  const text = shown(miss({ didYouMean: [near] }), undefined, typed);
  expect(text).toContain(`Did you mean ${near}?`);
  expect(text.includes('Spreadsheets drop zeros')).toBe(isLost);
  expect(text).toContain('A license may still exist: check the number');
});

test('a row of a list is counted in the heading of the list', () => {
  const [clear, bad] = [rowOf(found()), rowOf(miss({}))];
  const wrong = rowOf({ outcome: 'invalid', detail: 'No board Wizards' });
  expect([[clear], [clear, clear], [clear, bad], [wrong, bad], [wrong]].map(listTitle)).toEqual([
    ...['The row is clear', 'All 2 rows are clear', '1 of 2 needs attention', '2 of 2 need attention'],
    'No row could be looked up',
  ]);
});

test('the page of the data says what cannot be read, and what was withdrawn', () => {
  const nothing = pageText(dataBody(undefined, undefined));
  expect(nothing).toContain('The data cannot be read right now, or nothing has been published yet.');
  expect(nothing).toContain('Recent changes cannot be read right now.');
  const day: PublicationSummary = {
    ...{ publication: 'p', at: '2026-11-20T06:00:00.000Z', date: DATE, state: 'rolled_back' },
    changes: { kinds: { changed: 1200, removed: 2 }, causes: {}, boards: {} },
  };
  const refused: PublicationSummary = { ...day, date: '2026-11-19', state: 'refused' };
  const again: PublicationSummary = {
    ...{ ...day, date: '2026-11-18', state: 'live' },
    changes: { kinds: { added: 1 }, causes: { rollback: 1 }, boards: {} },
  };
  const some = pageText(dataBody(undefined, [day, refused, again]));
  expect(some).toContain('November 18, 2026 (this service went back to it): 1 added');
  expect(some).toContain('November 20, 2026 (this service withdrew it): 1,200 changed, 2 removed');
  expect(some).not.toContain('November 19');
});

test('the operator is named with a contact, or not at all', () => {
  const about = (OPERATOR_NAME?: string, OPERATOR_CONTACT?: string) =>
    String(aboutBody({ OPERATOR_NAME, OPERATOR_CONTACT }));
  expect(about('Acme', 'help@acme.example')).toContain(
    '<strong>Acme</strong> runs this installation. Write to <a href="mailto:help@acme.example">',
  );
  expect(about('Acme', 'https://acme.example/help')).toContain('<a href="https://acme.example/help"');
  for (const page of [about(), about('Acme')]) expect(page).not.toMatch(/Acme|Write to/);
});
