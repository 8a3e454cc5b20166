import { beforeAll, expect } from '@jest/globals';
import pLimit from 'p-limit';
import { z } from 'zod';
import { BUSINESSES, HOLDERS, TYPED_FORMS, type TypedForm } from '../fixtures/typed-forms.ts';
import { fixturesAnd } from '../support/fixtures.ts';
import { TOGETHER } from '../support/interfaces.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

/** The fields of a response that these tests read. The transcripts have its exact form. */
const answerBody = z.looseObject({
  license_number: z.string().optional(),
  multiple: z.array(z.object({ license_number: z.string() })).optional(),
  did_you_mean: z.array(z.string()).optional(),
  name_match: z.boolean().optional(),
});

let service: TestService;

beforeAll(async () => {
  service = await startService({
    files: (folder) => fixturesAnd(folder, { individual: HOLDERS, business: BUSINESSES }),
  });
});

function formsBy(by: TypedForm['by']): TypedForm[] {
  return TYPED_FORMS.filter((form) => form.by === by);
}

async function answered({ typed }: TypedForm) {
  const { status, body } = await service.rest.verify(typed);
  const answer = answerBody.parse(body);
  const numbers = (answer.multiple ?? [answer]).flatMap(({ license_number }) => license_number ?? []);
  return { typed, status, numbers, hasNameMatch: answer.name_match !== undefined, body: answer };
}

function expected({ by, typed, finds, didYouMean, answers, isRefused }: TypedForm) {
  if (isRefused === true) {
    const detail = expect.stringMatching(/^\w+ must have a letter or a digit\.$/);
    return { typed, status: 400, body: { detail } };
  }
  const { last_name, first_name, business_name } = typed;
  const hasName = [last_name, first_name, business_name].some((name) => name !== undefined);
  return {
    typed,
    status: by === 'number' && finds.length === 0 ? 404 : 200,
    numbers: finds,
    hasNameMatch: by === 'number' && finds.length > 0 && hasName,
    body: { ...answers, ...(didYouMean && { did_you_mean: didYouMean }) },
  };
}

/** Compares all answers at once, so that a failure lists every form that is answered otherwise. */
async function expectAnswers(by: TypedForm['by']): Promise<void> {
  const inTurn = pLimit(TOGETHER);
  const forms = formsBy(by);
  const answers = await Promise.all(forms.map((form) => inTurn(() => answered(form))));
  expect(answers).toMatchObject(forms.map(expected));
}

verifies(
  ['NUMBER-01', 'NUMBER-02', 'NUMBER-03', 'NUMBER-04', 'INPUT-01'],
  'each form of a number in typed-forms.ts finds only the licenses that it must find',
  () => expectAnswers('number'),
);

verifies(
  ['PERSON-01', 'PERSON-02', 'PERSON-03', 'PERSON-04', 'LOOKUP-05', 'FILTERS-01', 'INPUT-01'],
  'each form of a person’s name in typed-forms.ts finds only the licenses that it must find',
  () => expectAnswers('person'),
);

verifies(
  ['BUSINESS-01', 'BUSINESS-02', 'FILTERS-01', 'INPUT-01'],
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
