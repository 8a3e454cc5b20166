import { afterAll } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { newId } from '../../src/publications/metadata.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { type Day, licensesOf, writeDay } from './day-files.ts';
import { type DatasetFiles, publishFiles } from './publishing.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';

const environments: TestEnvironment[] = [];

/** A new environment with empty indices. It is removed after the last test of the file. */
export async function newEnvironment(settings: Record<string, string> = {}): Promise<TestEnvironment> {
  const environment = await testEnvironment(settings);
  environments.push(environment);
  await prepareIndices(environment.store);
  return environment;
}
afterAll(async () => {
  for (const each of environments) await each.cleanUp();
});

const liveResult = z.object({ state: z.literal('live'), publication: z.string(), index: z.string() });
type LivePublication = z.output<typeof liveResult>;

/** Files of this date with 20 nurses. */
export function filesOf(
  { folder }: TestEnvironment,
  date: string,
  more: Partial<Day> = {},
): Promise<DatasetFiles> {
  return writeDay(folder, `${date}-${newId()}`, {
    date,
    individual: licensesOf(NURSING, 'RN.', 20),
    business: licensesOf(PHARMACY, '02', 2),
    ...more,
  });
}

/** Publishes the files of this date. */
export async function published(environment: TestEnvironment, date: string): Promise<LivePublication> {
  return liveResult.parse(await publishFiles(environment, await filesOf(environment, date)));
}
