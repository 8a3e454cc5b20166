import { describe, expect, test } from '@jest/globals';
import { lookupForm, readSearch, searchedFor, searchRequest } from '../../src/web/lookup-form.ts';

/** What the address of a search asks for, in short; or the field that is wrong. */
function asked(address: string): string {
  const { fields, problems } = readSearch(parsed(address));
  const [problem] = problems;
  if (problem !== undefined) return `wrong: ${problem.field}`;
  const request = searchRequest(fields);
  if ('field' in request) return `wrong: ${request.field}`;
  const { number, person, business, board, page } = request;
  const name = number?.name === undefined ? '' : ' with a name';
  return [
    ...(number === undefined ? [] : [`number ${number.number}${name}`]),
    ...(person === undefined ? [] : [`person ${person.readings.map((each) => each.lastName).join('/')}`]),
    ...(business === undefined ? [] : [`business ${business}`]),
    ...(board === undefined ? [] : [board.code]),
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

describe('what is searched', () => {
  test.each([
    ['q=Maria Garcia', 'person Garcia, business Maria Garcia'],
    ['q=GARCIA, MARIA&board=nur', 'person GARCIA, business GARCIA, MARIA, NUR'],
    ['q=RN.987654321', 'number RN.987654321, person RN.987654321, business RN.987654321'],
    [
      'q= 1st Choice Home Care ',
      'number 1st Choice Home Care, person Care/Home Care/Choice Home Care, business 1st Choice Home Care',
    ],
    ['q=٣٤', 'number ٣٤, person ٣٤, business ٣٤'],
    ['q=Smith&by=person&page=3', 'person Smith, page 3'],
    ['q=Smith 2&by=business', 'business Smith 2'],
    ['q=Smith&by=number', 'number Smith'],
    ['q=Smith&by=constructor', 'person Smith, business Smith'],
    ['number=RN.1', 'number RN.1'],
    ['number=RN.1&last_name=Smith', 'number RN.1 with a name'],
    ['number=RN.1&business_name=Smith', 'number RN.1 with a name'],
    ['last_name=Smith&business_name=Kroger', 'person Smith, business Kroger'],
    ['last_name=Smith&page=5', 'person Smith'],
    ['last_name=Smith&page=-1', 'person Smith'],
  ])('%s asks for %s', (address, expected) => {
    expect(asked(address)).toBe(expected);
  });

  test.each([
    ['by=number&number=RN.1&last_name=Smith', 'number RN.1'],
    ['by=person&number=RN.1&last_name=Smith', 'person Smith'],
    ['by=business&last_name=Smith&business_name=Kroger', 'business Kroger'],
  ])('an address of the earlier form, %s, asks for %s alone', (address, expected) => {
    expect(asked(address)).toBe(expected);
  });

  test.each([
    ['', 'q'],
    ['city=Toledo', 'q'],
    ['first_name=Maria', 'last_name'],
    ['by=person', 'last_name'],
    ['by=business&q=', 'business_name'],
    ['by=number', 'number'],
    ['q=Smith&last_name=Smith', 'last_name'],
    ['q=*', 'q'],
    ['last_name=Smith&city=-', 'city'],
    ['q=Smith&board=XXX', 'board'],
    ['q=Smith&q=Jones', 'q'],
    [`q=${'x'.repeat(201)}`, 'q'],
  ])('%s is wrong in the field %s', (address, field) => {
    expect(asked(address)).toBe(`wrong: ${field}`);
  });
});

describe('what was typed', () => {
  test.each([
    ['q=Maria Garcia', 'Maria Garcia'],
    ['number=RN.1', 'RN.1'],
    ['last_name=Garcia&first_name=Maria', 'Maria Garcia'],
    ['business_name=Kroger&last_name=Smith', 'Smith and Kroger'],
  ])('by %s is said as %s', (address, words) => {
    expect(searchedFor(readSearch(parsed(address)).fields)).toBe(words);
  });

  test.each([
    ['q=Smith', false, true],
    ['q=Smith&board=', true, true],
    ['q=&board=NUR', true, true],
    ['board=NUR', false, false],
    ['by=person', false, false],
    ['utm_source=x', false, false],
  ])('%s has empty fields: %s, and is a form that was sent: %s', (address, hasEmptyFields, isSent) => {
    expect(readSearch(parsed(address))).toMatchObject({ hasEmptyFields, isSent });
  });

  test.each([
    'q=%s&board=NUR',
    'last_name=%s&status=Probation',
    'number=%s&q=x',
    'business_name=%s&board=XXX',
  ])('stays in the form, whatever is wrong with it: %s', (address) => {
    const typed = 'x'.repeat(300);
    const { fields, problems } = readSearch(parsed(address.replace('%s', typed)));
    const form = String(lookupForm(fields, { problems }));
    expect(form).toContain(`value="${typed}"`);
    expect(form).toMatch(/aria-invalid="true"/);
    if (fields.board === 'NUR') expect(form).toContain('<option value="NUR" selected>');
    if (fields.status !== undefined) expect(form).toContain('<option value="Probation" selected>');
  });

  test('fields below the box are counted where they are folded away', () => {
    const { fields } = readSearch(parsed('q=Smith&city=Toledo&status=active'));
    const form = String(lookupForm(fields, { isAboveResult: true }));
    expect(form).toContain('<summary>More fields (2 filled in)</summary>');
    expect(form).not.toContain('<details class="filters" open>');
    expect(form).toContain('<option value="Active" selected>');
    expect(String(lookupForm(fields))).toContain('<details class="filters" open>');
  });
});
