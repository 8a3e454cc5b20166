import { expect, test } from '@jest/globals';
import { ZodError } from 'zod';
import { publicationOf, queuePrefix } from '../../src/publications/job.ts';

const SOURCES = { individual: { location: '/data/i.csv' }, business: { location: '/data/b.csv' } };
const SCHEDULED = 'repeat:publish-schedule:1795251600000';

/** The fields that a job is refused for; whatever else is thrown goes on. */
function fieldsRefused(job: Parameters<typeof publicationOf>[0]): string[] {
  try {
    publicationOf(job);
    return [];
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    return error.issues.map(({ path }) => path.join('.'));
  }
}

test('the publication of a job of a schedule has an id made of the scheduled time, the same for each attempt', () => {
  const first = publicationOf({ id: SCHEDULED, data: SOURCES });
  expect(first).toEqual({ ...SOURCES, publication: `${(1_795_251_600_000).toString(36)}scheduled` });
  expect(publicationOf({ id: SCHEDULED, data: SOURCES })).toEqual(first);
  const next = publicationOf({ id: 'repeat:publish-schedule:1795338000000', data: SOURCES });
  expect(next.publication).toMatch(/^[a-z0-9]+$/);
  expect(next.publication > first.publication).toBe(true);
});

test.each<[string, { id?: string; data: unknown }, string[]]>([
  ['no data', { id: 'a', data: {} }, ['publication', 'individual', 'business']],
  ['no publication and no schedule', { id: 'a', data: SOURCES }, ['publication']],
  ['no id and no publication', { data: SOURCES }, ['publication']],
  ['a path for a location', { data: { ...SOURCES, publication: 'a', individual: '/x' } }, ['individual']],
  ['a schedule without sources', { id: SCHEDULED, data: {} }, ['individual', 'business']],
])('the publication of a job is refused with the names of the invalid fields: %s', (_what, job, fields) => {
  expect(fieldsRefused(job)).toEqual(fields);
});

test('the queue has the prefix of the installation', () => {
  expect([queuePrefix(''), queuePrefix('test-')]).toEqual(['bull', 'test-bull']);
});
