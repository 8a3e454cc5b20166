import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  BUSINESSES,
  HOLDERS,
  TYPED_FORMS,
  type TypedFields,
  type TypedForm,
} from '../fixtures/typed-forms.ts';
import { fixturesAnd } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';

/** The fields of a response that these tests read. Its exact form is tested elsewhere. */
const answerBody = z.object({
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
afterAll(() => service.stop());

function named({ typed: { board, ...typed }, note, finds }: TypedForm): string {
  const fields = Object.entries(typed).map(([field, value]) => `${field} ${JSON.stringify(value)}`);
  const found = finds.length === 0 ? 'nothing' : finds.join(', ');
  return `${fields.join(', ')} at ${board} finds ${found}: ${note}`;
}

function hasName({ last_name, first_name, business_name }: TypedFields): boolean {
  return [last_name, first_name, business_name].some((name) => name !== undefined);
}

function rows(by: TypedForm['by']): [string, TypedForm][] {
  return TYPED_FORMS.filter((form) => form.by === by).map((form) => [named(form), form]);
}

describe.each(['number', 'person', 'business'] as const)('a lookup by %s of the typed form', (by) => {
  test.each(rows(by))('%s', async (_name, { typed, finds, didYouMean, answers, isRefused }) => {
    const { status, body } = await service.rest.verify(typed);
    if (isRefused === true) {
      expect({ status, body }).toEqual({
        status: 400,
        body: { detail: expect.stringMatching(/^\w+ must have a letter or a digit\.$/) },
      });
      return;
    }
    const answer = answerBody.parse(body);
    const numbers = (answer.multiple ?? [answer]).flatMap(({ license_number }) => license_number ?? []);
    expect({ status, numbers }).toEqual({
      status: by === 'number' && finds.length === 0 ? 404 : 200,
      numbers: finds,
    });
    const isChecked = by === 'number' && finds.length > 0 && hasName(typed);
    expect(answer.name_match !== undefined).toBe(isChecked);
    if (didYouMean !== undefined) expect(answer.did_you_mean).toEqual(didYouMean);
    if (answers !== undefined) expect(body).toMatchObject(answers);
  });
});

test('there are at least 150 typed forms', () => {
  expect(TYPED_FORMS.length).toBeGreaterThanOrEqual(150);
});

test('a number that is not found never reveals the holder of a similar number', async () => {
  const misses = TYPED_FORMS.filter(({ by, finds }) => by === 'number' && finds.length === 0);
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
