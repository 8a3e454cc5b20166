import { expect, test } from '@jest/globals';
import { newId } from '../../src/publications/metadata.ts';
import { licensesIndexName, openStore } from '../../src/storage/store.ts';
import { type BulkOperation, batched } from '../../workers/publish/batch.ts';
import { load as loadBatches, type RefusedDocument } from '../../workers/publish/load.ts';
import { type BulkFault, bulkProxy } from '../support/bulk-faults.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { nurseRecord } from '../support/records.ts';

const DOCUMENTS = 100;

const { client, config } = await newEnvironment();

function operation(number: string, line: number, body?: object): BulkOperation {
  const license = {
    ...nurseRecord({ license_number: number }),
    source_row: `individual:${line}:0`,
    keys: { number, name: `NUR/${number}` },
    ...body,
  };
  return {
    id: number,
    row: { line, raw: number },
    body: `{"create":{"_id":"${number}"}}\n${JSON.stringify(license)}\n`,
  };
}

const DISTINCT = Array.from({ length: DOCUMENTS }, (_, at) => operation(`RN.${at}`, at + 2));

const once = (documents: readonly BulkOperation[]) =>
  batched(
    (async function* () {
      yield documents;
    })(),
  );

/** Loads through a proxy with these faults, into an index of its own. */
async function load(documents: readonly BulkOperation[], faults: readonly BulkFault[]) {
  const index = licensesIndexName(config.INDEX_PREFIX, '2026-11-20', newId());
  await client.indices.create({ index });
  const proxy = await bulkProxy(config.OPENSEARCH_URL, faults);
  const { client: throughProxy } = openStore({ ...config, OPENSEARCH_URL: proxy.url }, 10_000);
  const refused: RefusedDocument[] = [];
  let loaded = 0;
  await loadBatches(throughProxy, index, once(documents), {
    signal: new AbortController().signal,
    onLoaded: (count) => {
      loaded += count;
    },
    onRefused: (each) => refused.push(each),
  });
  await throughProxy.close();
  await client.indices.refresh({ index });
  const { body } = await client.count({ index });
  for (const { id, file, row, license } of refused) {
    expect({ file, row }).toEqual({ file: 'individual', row: operation(id, row.line).row });
    expect(license.source_row).toBe(`individual:${row.line}:0`);
  }
  const reasons = refused.map(({ id, reason }) => `${id}: ${reason}`);
  return { inIndex: body.count, loaded, refused: reasons, requests: proxy.requests };
}

test.each<[string, BulkFault[], number[]]>([
  ['stores every document once', [], [100]],
  ['sends only the failed items again', ['refuse half', 'refuse half'], [100, 50, 25]],
  ['sends a request again that was refused with 429', ['refuse all', 'refuse all'], [100, 100, 100]],
  ['stores no duplicates when a response is lost', ['lose the answer'], [100, 100]],
])('loading documents %s', async (_what, faults, requests) => {
  expect(await load(DISTINCT, faults)).toEqual({ inIndex: 100, loaded: 100, refused: [], requests });
});

test('loading documents reports a number that two rows have, even after a lost response', async () => {
  const documents = [...DISTINCT, operation('RN.7', 500)];
  const refused = ['RN.7: an earlier row of the board has the same number'];
  for (const faults of [[], ['lose the answer']] as const)
    expect(await load(documents, faults)).toMatchObject({ inIndex: 100, loaded: 100, refused });
});

test('loading documents reports a document that OpenSearch refuses, with the reason, and stores the others', async () => {
  const tooLong = operation('RN.long', 900, { keys: { number: 'x'.repeat(40_000), name: 'NUR|x' } });
  const { inIndex, loaded, refused } = await load([...DISTINCT, tooLong], []);
  expect({ inIndex, loaded }).toEqual({ inIndex: 100, loaded: 100 });
  expect(refused).toEqual([expect.stringMatching(/^RN\.long: OpenSearch refused it: .*immense term/)]);
});

test('a load fails immediately when its index has been deleted', async () => {
  const gone = licensesIndexName(config.INDEX_PREFIX, '2026-11-20', newId());
  const ignored = { onLoaded: () => undefined, onRefused: () => undefined };
  const { signal } = new AbortController();
  const loading = loadBatches(client, gone, once(DISTINCT), { ...ignored, signal });
  await expect(loading).rejects.toThrow(/index_not_found|has gone/);
});
