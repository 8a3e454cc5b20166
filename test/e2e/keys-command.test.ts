import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import { prepareIndices } from '../../src/storage/templates.ts';

const keyCreated = z.object({ id: z.string(), key: z.string(), account: z.string() });

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
  await prepareIndices(environment.store);
});

function run(...parameters: string[]) {
  return licenses(environment.variables, ...parameters);
}

test('licenses keys shows a key once, lists it by its last four characters, rotates it and revokes it', async () => {
  const created = await run('keys', 'create', 'Acme Staffing', '--verified-by', 'Pat', '--json');
  const { id, key } = keyCreated.parse(JSON.parse(created.stdout));
  expect(key).toMatch(/^olv_[0-9A-Za-z]{49}$/);

  const listed = await run('keys', 'list');
  expect(listed.stdout).toContain(`olv_…${key.slice(-4)}`);
  expect(listed.stdout).not.toContain(key);
  expect(listed.stdout).toMatch(/Acme Staffing +\d{4}-\d\d-\d\d +never +active\n$/);

  const rotated = keyCreated.parse(JSON.parse((await run('keys', 'rotate', id, '--json')).stdout));
  expect(rotated).toMatchObject({ account: 'Acme Staffing' });
  expect(rotated.key).not.toBe(key);

  expect(await run('keys', 'revoke', id)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('is revoked'),
  });
  const keys = z
    .array(z.object({ id: z.string(), revoked_at: z.string().nullable() }))
    .parse(JSON.parse((await run('keys', 'list', '--json')).stdout));
  expect(keys.find((each) => each.id === id)?.revoked_at).not.toBeNull();
  expect(keys.find((each) => each.id === rotated.id)?.revoked_at).toBeNull();
  await run('accounts', 'deactivate', 'Acme Staffing');
  const deactivated = (await run('keys', 'list')).stdout.trimEnd().split('\n');
  expect(deactivated[0]).toMatch(/^ID +KEY +ACCOUNT +CREATED +LAST USED +STATE$/);
  const states = deactivated
    .slice(1)
    .map((line) => / {2}([a-z]+(?: [a-z]+)?) \d{4}-\d\d-\d\d$/.exec(line)?.[1]);
  expect(states.toSorted()).toEqual(['account deactivated', 'revoked']);
  expect(await run('keys', 'revoke', 'nobody')).toMatchObject({
    code: 1,
    stderr: 'No key has the id "nobody".\n',
  });
});
