import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { newId } from '../../src/publications/metadata.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { type Day, type DayRow, licensesOf, writeDay } from './day-files.ts';
import { expectLive, type PublishingOptions, publishFiles } from './publishing.ts';

/** A new environment with empty indices. */
export async function newEnvironment(settings: Record<string, string> = {}): Promise<TestEnvironment> {
  const environment = await testEnvironment(settings);
  await prepareIndices(environment.store);
  return environment;
}

/** This many nurses, with numbers from RN.900001. */
export const nurses = (count: number): DayRow[] => licensesOf('Nursing Board', 'RN.', count);

/** Files with this date. By default they have 20 nurses and two pharmacies. */
export function filesOf({ folder }: TestEnvironment, date: string, day: Partial<Day> = {}) {
  const usual = { date, individual: nurses(20), business: licensesOf('Board of Pharmacy', '02', 2) };
  return writeDay(folder, `${date}-${newId()}`, { ...usual, ...day });
}

/** Publishes the files with this date. @throws {Error} when they do not go live */
export const published = async (
  environment: TestEnvironment,
  date: string,
  day: Partial<Day> = {},
  options: PublishingOptions = {},
): ReturnType<typeof expectLive> =>
  expectLive(publishFiles(environment, await filesOf(environment, date, day), options));
