import { beforeAll, expect } from '@jest/globals';
import pLimit from 'p-limit';
import {
  answerOf,
  BUSINESSES,
  expectedAnswer,
  formsBy,
  HOLDERS,
  type TypedForm,
} from '../fixtures/typed-forms.ts';
import { fixturesAnd } from '../support/fixtures.ts';
import { TOGETHER } from '../support/interfaces.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({
    files: (folder) => fixturesAnd(folder, { individual: HOLDERS, business: BUSINESSES }),
  });
});

async function answered(form: TypedForm) {
  return answerOf(form, await service.rest.verify(form.typed));
}

/** Compares all answers at once, so that a failure lists every form that is answered otherwise. */
async function expectAnswers(by: TypedForm['by']): Promise<void> {
  const inTurn = pLimit(TOGETHER);
  const forms = formsBy(by);
  const answers = await Promise.all(forms.map((form) => inTurn(() => answered(form))));
  expect(answers).toMatchObject(forms.map(expectedAnswer));
}

verifies(
  ['NUMBER-01', 'NUMBER-02', 'NUMBER-03', 'NUMBER-04', 'NUMBER-05', 'LOOKUP-07', 'INPUT-01'],
  'each form of a number in typed-forms.ts finds only the licenses that it must find',
  () => expectAnswers('number'),
);

verifies(
  [
    'PERSON-01',
    'PERSON-02',
    'PERSON-03',
    'PERSON-04',
    'LOOKUP-04',
    'LOOKUP-05',
    'FILTERS-01',
    'INPUT-01',
    'INPUT-05',
    'SEARCH-03',
  ],
  'each form of a person’s name in typed-forms.ts finds only the licenses that it must find',
  () => expectAnswers('person'),
);

verifies(
  ['BUSINESS-01', 'BUSINESS-02', 'LOOKUP-06', 'LOOKUP-10', 'FILTERS-01', 'INPUT-01', 'INPUT-05'],
  'each form of a business’s name in typed-forms.ts finds only the licenses that it must find',
  () => expectAnswers('business'),
);

verifies('NUMBER-01', 'a number that is not found never reveals the holder of a similar number', async () => {
  const misses = formsBy('number').filter(({ finds }) => finds.length === 0);
  const surnames = HOLDERS.map(({ LICENSEE_NAME: name = '' }) => name.replace(/,.*/, ''));
  const names = [...surnames, ...BUSINESSES.map(({ business_name: name = '' }) => name)].map(words);
  expect([misses.length > 20, names.includes(words(''))]).toEqual([true, false]);
  for (const { typed } of misses) {
    const { status, text } = await service.rest.verify(typed);
    const told = names.filter((name) => words(text).includes(name));
    expect({ typed, status, told }).toEqual({ typed, status: 404, told: [] });
  }
});

/** The words of a text in upper case, with a space before and after each. */
function words(text: string): string {
  return ` ${
    text
      .toUpperCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? ''
  } `;
}
