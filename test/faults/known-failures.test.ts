import { expect, test } from '@jest/globals';
import { startApi } from '../../scripts/licenses-processes.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { apiClient } from '../support/api.ts';
import { newEnvironment, published } from '../support/publication-days.ts';

const REQUESTS = 300;
const LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };

test('while nothing is published, refused requests do not fill the log', async () => {
  const environment = await newEnvironment();
  const api = await startApi({ ...environment.variables, REST_REQUESTS_PER_MINUTE: '100000' });
  const rest = await apiClient(environment);
  const answers = await Promise.all(Array.from({ length: REQUESTS }, () => rest.verify(LOOKUP)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  await api.stop();
  const errors = api
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":50'));
  expect(errors).toEqual([expect.stringContaining('"requests":1,"error":"NothingPublishedError"')]);
  expect(api.output()).not.toContain('"stack"');
});

test('a key is refused while the index that says which accounts are deactivated is missing', async () => {
  const environment = await newEnvironment();
  await published(environment, '2026-11-20');
  const rest = await apiClient(environment);
  await environment.client.indices.delete({ index: environment.store.names.accounts });
  const api = await startApi(environment.variables);
  expect(await rest.get('/api/v1/lookup/boards')).toMatchObject({ status: 503 });
  await api.stop();
});

test('an index template that is not that of this version is installed again', async () => {
  const { store, client } = await newEnvironment();
  const name = `${store.prefix}changes`;
  const read = async () =>
    (await client.indices.getIndexTemplate({ name })).body.index_templates[0]?.index_template;
  const before = await read();
  await client.indices.putIndexTemplate({ name, body: { ...before, template: {} } });
  await prepareIndices(store);
  expect(await read()).toEqual(before);
});
