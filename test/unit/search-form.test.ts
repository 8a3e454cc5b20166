import { expect, test } from '@jest/globals';
import { listRequest, readSearch, searchForm } from '../../src/web/search-form.ts';

/** What the address of a search asks for, in short; or the field that is wrong. */
function asked(address: string): string {
  const { fields, problems } = readSearch(parsed(address));
  const [problem] = problems;
  if (problem !== undefined) return `wrong: ${problem.field}`;
  const { q } = fields;
  if (q === undefined) return 'nothing';
  const { numbers, name, board, kind, page } = listRequest({ ...fields, q }, true);
  return [
    ...numbers.map(({ number, name: typed }) =>
      typed === undefined ? `number ${number}` : `number ${number} of ${Object.values(typed).join()}`,
    ),
    `name ${name}`,
    ...(board === undefined ? [] : [board.code]),
    ...(kind === undefined ? [] : [kind]),
    ...(page === 1 ? [] : [`page ${page}`]),
  ].join(', ');
}

/** The fields of an address as the web framework gives them: a list where one is there twice. */
function parsed(address: string): Record<string, string | string[]> {
  const query = new URLSearchParams(address);
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const [first = '', ...more] = query.getAll(name);
      return [name, more.length === 0 ? first : [first, ...more]];
    }),
  );
}

test.each([
  ['', 'nothing'],
  ['board=NUR', 'nothing'],
  ['utm_source=x', 'nothing'],
  ['q=Maria Garcia', 'name Maria Garcia'],
  ['q=GARCIA, MARIA&board=nur', 'name GARCIA, MARIA, NUR'],
  ['q=RN.987654321', 'number RN.987654321, name RN.987654321'],
  // A number in a text, with what else the text has.
  ...[
    ['RN.987654321 Smith', 'RN.987654321 of Smith'],
    ['Smith,RN.987654321', 'RN.987654321 of Smith,'],
    ['RN.987654321,Smith', 'RN.987654321 of Smith'],
    ['RN.987654321 ; Ann Smith', 'RN.987654321 of Ann Smith'],
    ['Smith 3rd RN.987654321', 'RN.987654321 of Smith 3rd'],
    ['smith, ann RN.987654321', 'RN.987654321 of smith, ann'],
    ['1. RN.987654321', 'RN.987654321'],
    ['License No. RN.987654321', 'RN.987654321'],
    ['MD 35.000869', '35.000869'],
  ].map(([typed, number]) => [`q=${typed}`, `number ${typed}, number ${number}, name ${typed}`]),
  ['q= 1st Choice Home Care ', 'number 1st Choice Home Care, name 1st Choice Home Care'],
  ['q=٣٤', 'number ٣٤, name ٣٤'],
  ['q=Smith&kind=person&page=3', 'name Smith, person, page 3'],
  ['q=Smith&kind=constructor', 'name Smith'],
  ['q=Smith&page=5', 'name Smith'],
  ['q=Smith&page=-1', 'name Smith'],
])('what is searched %s asks for %s', (address, expected) => {
  expect(asked(address)).toBe(expected);
});

test.each([
  ['city=Toledo', 'q'],
  ['q=&board=NUR', 'q'],
  ['q=*', 'q'],
  ['q=Smith&city=-', 'city'],
  ['q=Smith&board=XXX', 'board'],
  ['q=Smith&q=Jones', 'q'],
  [`q=${'x'.repeat(201)}`, 'q'],
])('what is searched %s is wrong in the field %s', (address, field) => {
  expect(asked(address)).toBe(`wrong: ${field}`);
});

test.each(['q=%s&board=NUR', 'q=%s&status=Probation', 'q=x&city=%s&board=XXX'])(
  'what was typed stays in the form, whatever is wrong with it: %s',
  (address) => {
    const typed = 'x'.repeat(300);
    const { fields, problems } = readSearch(parsed(address.replace('%s', typed)));
    const form = String(searchForm(fields, { problems }));
    expect(form).toContain(`value="${typed}"`);
    expect(form).toMatch(/aria-invalid="true"/);
    if (fields.board === 'NUR') expect(form).toContain('<option value="NUR" selected>');
    if (fields.status !== undefined) expect(form).toContain('<option value="Probation" selected>');
  },
);

test('what was typed filters are counted where they are folded away', () => {
  const form = String(searchForm(readSearch(parsed('q=Smith&city=Toledo&status=Active')).fields));
  expect(form).toContain('(2 chosen)</summary>');
  expect(form).not.toContain('<details class="filters" open>');
  expect(form).toContain('<option value="Active" selected>');
});
