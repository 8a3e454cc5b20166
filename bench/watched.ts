import { join } from 'node:path';
import { z } from 'zod';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { startWorker } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { accountId } from '../src/access/accounts.ts';
import { createKey } from '../src/access/api-keys.ts';
import { pagesOf } from '../src/storage/checked-search.ts';
import type { Store } from '../src/storage/store.ts';
import { subscriptionsService } from '../src/subscriptions/service.ts';
import { number, optionsOf } from './options.ts';
import { published } from './published.ts';
import { type WatchedReport, watchedText } from './reports/watched.ts';
import { writeResult } from './result.ts';
import { DATE, SEED, type Service, withApi, withEnvironment } from './service.ts';
import { cpuSeconds } from './usage.ts';

const { subscriptions, changed, requests } = optionsOf({
  subscriptions: number(100_000),
  changed: number(10_000),
  requests: number(50),
});

const WARM_UPS = 10;
const FEW = 100;

const license = z.object({ board: z.string(), license_number: z.string() });
const page = z.object({ changes: z.array(z.unknown()), next: z.string() });

/** Makes accounts watch the first licenses of the publication. @param counts how many, by the account's name */
async function watch(store: Store, index: string, counts: ReadonlyMap<string, number>): Promise<void> {
  let read = 0;
  for await (const documents of pagesOf(store.client, index, 1000)) {
    for (const [account, count] of counts) {
      const some = documents.slice(0, Math.max(0, count - read));
      const wanted = some.map(({ _source }) => ({ record: license.parse(_source), reference: null }));
      await subscriptionsService(store).watch(accountId(account), wanted);
    }
    read += documents.length;
  }
}

async function changesPage({ api }: Service, key: string, query: string) {
  const response = await fetch(`${api}/api/v1/changes?${query}`, { headers: { 'x-api-key': key } });
  if (!response.ok) throw new Error(await response.text());
  return page.parse(await response.json());
}

/** Reads one page again and again. */
async function measured(service: Service, name: string, key: string, query: string) {
  let found = 0;
  const ms: number[] = [];
  const ask = async () => {
    found = (await changesPage(service, key, query)).changes.length;
  };
  for (let times = 0; times < WARM_UPS; times += 1) await ask();
  const servers = Object.entries(await service.servers());
  const cpu = async () => Promise.all(servers.map(([, pids]) => cpuSeconds(pids)));
  const before = await cpu();
  for (let times = 0; times < requests; times += 1) {
    const since = performance.now();
    await ask();
    ms.push(performance.now() - since);
  }
  const after = await cpu();
  const used = servers.map(([server], at) => [
    server,
    (((after[at] ?? 0) - (before[at] ?? 0)) * 1000) / requests,
  ]);
  return { name, found, ms: ms.toSorted((one, other) => one - other), cpu: Object.fromEntries(used) };
}

/** Pages of the whole feed, and of what an account watches, after a publication that changes some of all licenses. */
await withEnvironment(async (environment) => {
  const { folder, config, store, client, variables } = environment;
  const common = { rows: subscriptions, seed: SEED, date: DATE };
  const days = [
    await writeSampleData({ ...common, directory: join(folder, '1') }),
    await writeSampleData({ ...common, directory: join(folder, '2'), changed: changed / subscriptions }),
  ];
  const worker = await startWorker(variables);
  const indices: string[] = [];
  for (const files of days) indices.push((await published(config, files, { force: 'bench' })).index);
  await worker.stop();
  const index = indices.at(-1) ?? '';
  await watch(
    store,
    index,
    new Map([
      ['Bench', subscriptions],
      ['Few', FEW],
    ]),
  );
  const few = await createKey(store, config.API_KEY_PREFIX, {
    account: 'Few',
    verifiedBy: 'the measurement',
  });
  await withApi(environment, index, async (service) => {
    let changes = 0;
    for (let since = ''; ; ) {
      const { changes: some, next } = await changesPage(service, service.key, `limit=1000&since=${since}`);
      if (some.length === 0) break;
      changes += some.length;
      since = next;
    }
    const report: WatchedReport = {
      ...{ subscriptions, changes },
      pages: [
        await measured(service, 'the whole feed, limit 1,000', service.key, 'limit=1000'),
        await measured(service, 'watched, limit 1,000', service.key, 'watched=true&limit=1000'),
        await measured(service, 'watched, limit 100', service.key, 'watched=true&limit=100'),
        await measured(service, 'watched, of a hundred', few.key, 'watched=true&limit=1000'),
      ],
    };
    await writeResult('watched', report, client);
    print(watchedText(report));
  });
});
