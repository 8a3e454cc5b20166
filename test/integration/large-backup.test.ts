/** @room publishing @long */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { licenses } from '../../scripts/licenses-processes.ts';
import { savedRecords } from '../../src/records/saved-records.ts';
import { SUBSCRIPTIONS, type Subscription, subscriptionId } from '../../src/subscriptions/subscription.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';

const SUBSCRIBED = 25_000;
const SAVED = 200;

function subscription(at: number): Subscription {
  const [account, number] = [`account-${at % 10}`, `RN.${900_000 + at}`];
  const license = `NUR-${number}`;
  const shown = { board: 'Nursing Board', license_number: number, number, reference: null };
  const id = subscriptionId(account, license);
  return { id, account, license, ...shown, created_at: '2026-11-20T00:00:00.000Z' };
}

test(`a backup of ${SUBSCRIBED} subscriptions is restored whole, by the commands`, async () => {
  const [original, empty] = [await newEnvironment(), await newEnvironment()];
  const subscriptions = Array.from({ length: SUBSCRIBED }, (_, at) => subscription(at));
  await SUBSCRIPTIONS.putAll(
    original.store,
    subscriptions.map((each) => [each.id, each]),
  );
  const records = savedRecords(original.store, RECORD_LIMITS);
  const codes = await Promise.all(Array.from({ length: SAVED }, () => records.save(shownNurse())));

  const file = join(original.folder, 'large.backup');
  expect(await licenses(original.variables, 'backup', file)).toMatchObject({ code: 0 });
  expect(await licenses(empty.variables, 'restore', file)).toMatchObject({ code: 0 });

  const { client, names } = empty.store;
  const index = names.subscriptions;
  await client.indices.refresh({ index });
  expect((await client.count({ index })).body.count).toBe(SUBSCRIBED);
  const restored = savedRecords(empty.store, RECORD_LIMITS);
  for (const code of codes) expect(await restored.read(code)).toBeDefined();
}, 600_000);
