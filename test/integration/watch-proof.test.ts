/** @room changes @long */

import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { DOCUMENT_CHECKS } from '../../src/cli/stored-documents.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { restoreBackup, writeBackup } from '../../src/storage/backup.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import type { DayRow } from '../support/day-files.ts';
import { daysAfter, todayInNewYork } from '../support/days.ts';
import { NURSES, NURSING, startFeedService } from '../support/feed-service.ts';
import { published } from '../support/publication-days.ts';

const WATCHED = 'RN.900001';
const DAYS = 30;
const OTHERS = NURSES.slice(1, 4);

const { environment, rest } = await startFeedService();
const { client, config, store } = environment;

/** The row of the watched license on a day; `undefined` where the State has left it out. */
type Row = Pick<DayRow, 'city' | 'expires'> | undefined;

async function publish(date: string, row: Row): Promise<void> {
  const watched = row === undefined ? [] : [{ board: NURSING, number: WATCHED, ...row }];
  await published(environment, date, { individual: [...watched, ...OTHERS] });
}

/** Everything is lost, and a backup is restored. */
async function loseAndRestore(backup: string): Promise<void> {
  const { body } = await client.indices.get({ index: `${config.INDEX_PREFIX}*` });
  await client.indices.delete({ index: Object.keys(body) });
  await prepareIndices(store);
  await restoreBackup(store, backup, DOCUMENT_CHECKS);
}

/** A straightforward model: what a clerk would write down who compares one license each day. */
class Clerk {
  /** What is live, after what was live before. */
  live: { readonly date: string; readonly row: Row }[] = [];
  compared: string[] = [];
  withdrawn: string[] = [];
  gaps: { after: string; before: string }[] = [];
  changes: { date: string; kind: string; of: string; withdrawn?: true }[] = [];
  isAfterRestore = false;

  private note(before: Row, after: Row, date: string, of: string): void {
    if (before?.city === after?.city && before?.expires === after?.expires) return;
    const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
    this.changes.unshift({ date, kind, of });
  }

  publish(date: string, row: Row): void {
    const before = this.live.at(-1);
    if (this.isAfterRestore && before !== undefined) this.gaps.push({ after: before.date, before: date });
    else if (before !== undefined) {
      this.compared.push(date);
      this.note(before.row, row, date, date);
    }
    this.isAfterRestore = false;
    this.live.push({ date, row });
  }

  rollBack(): void {
    const from = this.live.pop();
    const to = this.live.at(-1);
    if (from === undefined || to === undefined) throw new Error('Nothing is live.');
    this.compared = this.compared.filter((date) => date !== from.date);
    this.withdrawn.push(from.date);
    for (const change of this.changes) if (change.of === from.date) change.withdrawn = true;
    this.note(from.row, to.row, to.date, 'rollback');
  }

  /** A copy, as a backup is one. */
  copy(): Clerk {
    return Object.assign(new Clerk(), structuredClone({ ...this }));
  }
}

const proofBody = z.looseObject({
  ...{ coverage_start: z.string(), compared: z.array(z.string()), missed: z.array(z.string()) },
  ...{ withdrawn: z.array(z.string()), gaps: z.array(z.unknown()), date: z.string() },
  record: z.looseObject({ expiry_date: z.string().nullable() }).nullable(),
  changes: z.array(
    z.looseObject({ date: z.string(), kind: z.string(), withdrawn: z.literal(true).optional() }),
  ),
});

/** Numbers from 0 to 1 that are the same in each run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const today = todayInNewYork();
const WATCHED_AT = 3;
const BACKED_UP_AT = 14;
const LOST_AT = 17;
/** The first day from which there are two publications to go back between. */
const ROLLED_BACK_AT = [8, 24];
let clerk = new Clerk();
let id = '';
let coverageStart = '';

const next = random(61);
const backup = join(environment.folder, 'day.backup');
let kept = clerk;
let row: Row = { city: 'LIMA', expires: '2099-01-01' };
for (let day = 0; day < DAYS; day += 1) {
  const date = daysAfter(today, day - DAYS + 1);
  const isSure = [0, WATCHED_AT, ...ROLLED_BACK_AT, ...ROLLED_BACK_AT.map((at) => at - 1)].includes(day);
  const chance = next();
  if (next() < 0.2) row = row === undefined ? { city: `CITY ${day}`, expires: '2099-01-01' } : undefined;
  else if (row !== undefined && next() < 0.5) row = { city: `CITY ${day}`, expires: `2099-01-${day + 1}` };
  // The license must be there when it is watched.
  if (day <= WATCHED_AT) row ??= { city: 'LIMA', expires: '2099-01-01' };
  if (isSure || chance > 0.2) {
    await publish(date, row);
    clerk.publish(date, row);
  }
  if (day === WATCHED_AT) {
    const subscribed = await rest.verify(
      { board: NURSING, license_number: WATCHED, reference: 'A-1' },
      '/api/v1/subscriptions',
    );
    ({ subscription_id: id } = z.object({ subscription_id: z.string() }).parse(subscribed.body));
    coverageStart = date;
    Object.assign(clerk, { compared: [], changes: [] });
  }
  if (ROLLED_BACK_AT.includes(day)) {
    await rollBack(store);
    clerk.rollBack();
  }
  if (day === BACKED_UP_AT) {
    await writeBackup(store, backup, DOCUMENT_CHECKS);
    kept = clerk.copy();
  }
  if (day === LOST_AT) {
    await loseAndRestore(backup);
    clerk = kept;
    clerk.isAfterRestore = true;
  }
}

test('the proof of a license that is watched for 30 days, with gaps, a rollback and a restore, is what a model says', async () => {
  const body = proofBody.parse((await rest.get(`/api/v1/subscriptions/${id}/proof`)).body);
  const { live, compared, withdrawn, gaps, changes } = clerk;
  const [last, yesterday] = [live.at(-1), daysAfter(today, -1)];
  const days = Array.from({ length: DAYS }, (_, day) => daysAfter(today, day - DAYS + 1));
  const covered = days.filter((day) => day > coverageStart && (day <= yesterday || day === last?.date));
  expect(gaps).toHaveLength(1);
  expect(withdrawn).toHaveLength(2);
  expect(changes.filter((change) => change.withdrawn).length).toBeGreaterThan(0);
  expect(body).toMatchObject({
    ...{ type: 'watch_proof', by: 'Test', subscription_id: id, board: NURSING, license_number: WATCHED },
    ...{ reference: 'A-1', coverage_start: coverageStart, compared, withdrawn, gaps, date: last?.date },
    missed: covered.filter((day) => !compared.includes(day)),
  });
  expect(body.changes.map(({ date, kind, withdrawn: undone }) => ({ date, kind, undone }))).toEqual(
    changes.map(({ date, kind, withdrawn: undone }) => ({ date, kind, undone })),
  );
  expect(body.record?.expiry_date).toBe(last?.row?.expires);
});
