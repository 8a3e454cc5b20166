import { expect } from '@jest/globals';
import { z } from 'zod';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { type PublishResult, publicationDetails } from '../../src/publications/history.ts';
import { indicesUnderAlias, licensesIndices, newId } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { type Day, type DayRow, licensesOf, writeDay } from './day-files.ts';
import { type DatasetFiles, expectLive, publishFiles } from './publishing.ts';

export const NURSING = 'Nursing Board';
export const MEDICAL = 'Medical Board';
export const PHARMACY = 'Board of Pharmacy';

/** 20 licenses with Board Action Yes, 15 of them with a disciplinary sub-status, and 180 without either. */
export const nurses = licensesOf(NURSING, 'RN.', 200).map((row, at): DayRow => {
  const subStatus = at < 12 ? 'Suspended' : at < 15 ? 'Revoked' : '';
  return at < 20 ? { ...row, boardAction: 'Yes', subStatus } : row;
});
const doctors = licensesOf(MEDICAL, '35.', 60);
export const pharmacies = licensesOf(PHARMACY, '02', 60);

/** A day with 320 valid rows. */
export const BASE: Day = { date: '2026-11-20', individual: [...nurses, ...doctors], business: pharmacies };

/** The base day moved to the next day, with these changes. */
export const nextDay = (changes: Partial<Day> = {}): Day => ({ ...BASE, date: '2026-11-21', ...changes });

export type BasePublication = Pick<Awaited<ReturnType<typeof expectLive>>, 'publication' | 'index'>;

export async function publishBase(environment: TestEnvironment): Promise<BasePublication> {
  const files = await writeDay(environment.folder, 'base', BASE);
  return expectLive(publishFiles(environment, files, { isGuarded: true }));
}

/** The names of all indices of licenses. */
export const indices = async ({ store }: TestEnvironment): Promise<string[]> =>
  (await licensesIndices(store)).map(({ index }) => index);

/** Rolls back to the base publication, unless it is live already. */
export async function rollBackToBase(environment: TestEnvironment, base: BasePublication): Promise<void> {
  const [index] = await indicesUnderAlias(environment.store);
  if (index !== base.index) await rollBack(environment.store, base.publication);
}

/** Publishes files that must be refused, and expects that they leave no index behind. */
export async function publishRefused(environment: TestEnvironment, files: DatasetFiles) {
  const state = async () => [await indicesUnderAlias(environment.store), await indices(environment)];
  const before = await state();
  const result = await publishFiles(environment, files, { isGuarded: true });
  expect(result).toMatchObject({ state: 'refused' });
  expect(await state()).toEqual(before);
  const { reasons } = z.object({ reasons: z.array(z.string()).min(1) }).parse(result);
  const { summary, events } = await publicationDetails(environment.store, result.publication);
  expect(summary).toMatchObject({ state: 'refused', reasons });
  expect(events.map(({ event }) => event)).not.toContain('live');
  return reasons;
}

/** Force-publishes files that the guards refuse. Expects that they go live and that the ledger records the force. */
export async function publishForced(
  environment: TestEnvironment,
  files: DatasetFiles,
  reasons: readonly string[],
): Promise<PublishResult> {
  const force = `${newId()}, as the test says`;
  const result = await expectLive(publishFiles(environment, files, { force }));
  expect(await indicesUnderAlias(environment.store)).toEqual([result.index]);
  const { summary, events } = await publicationDetails(environment.store, result.publication);
  expect(summary).toMatchObject({ state: 'live', forced: force });
  const event = events.find((each) => each.event === 'live');
  // A refusal before the comparison does not include the reasons that the comparison finds.
  expect(event).toMatchObject({ forced: force, reasons: expect.arrayContaining([...reasons]) });
  return result;
}

/** These rows, with another status, board or date in the first `count`. */
export const changed = (rows: readonly DayRow[], count: number, change: Partial<DayRow>): readonly DayRow[] =>
  rows.map((row, at) => (at < count ? { ...row, ...change } : row));
