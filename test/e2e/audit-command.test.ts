import { hostname, userInfo } from 'node:os';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startWorker } from '../../scripts/licenses-processes.ts';
import { command } from '../support/in-process.ts';
import { filesOf, nurses } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const auditLog = z.array(
  z.strictObject({
    at: z.iso.datetime(),
    by: z.string(),
    action: z.string(),
    details: z.record(z.string(), z.string()),
  }),
);
const created = z.object({ id: z.string(), key: z.string() });
const published = z.object({ publication: z.string() });

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
  await startWorker(environment.variables);
});

async function run(...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(environment.variables, ...parameters);
  expect([parameters, code, stderr]).toEqual([parameters, 0, '']);
  return stdout;
}

test('publications are listed, rolled back and pruned; licenses audit lists who did what, latest first, and never a key', async () => {
  const { publication: first } = published.parse(
    await publishFiles(environment, await filesOf(environment, '2026-11-20')),
  );
  const { individual, business } = await filesOf(environment, '2026-11-21', { individual: nurses(10) });
  const files = ['--individual', individual, '--business', business];
  const forced = await run('publish', ...files, '--force', 'the board closed', '--json');
  const { publication } = published.parse(JSON.parse(forced));
  expect(JSON.parse(await run('publications', '--json'))).toMatchObject({
    live: { publication, state: 'live' },
    publications: [
      { publication, state: 'live' },
      { publication: first, state: 'superseded' },
    ],
  });
  expect(await run('rollback')).toMatch(
    new RegExp(`^Live again: publication ${first} of 2026-11-20, in place of .*${publication}`),
  );
  expect(await run('publications')).toMatch(/rolled_back/);
  await run('prune');
  expect(await command(environment.variables, 'rollback', '--to', 'nothing')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no publication nothing to roll back to\. --to takes: \w+/),
  });
  const key = created.parse(
    JSON.parse(await run('keys', 'create', 'Acme Staffing', '--verified-by', 'Ada Operator', '--json')),
  );
  const second = created.parse(JSON.parse(await run('keys', 'rotate', key.id, '--json')));
  await run('keys', 'revoke', key.id);
  await run('accounts', 'deactivate', 'acme staffing');
  await run('accounts', 'activate', 'acme staffing');

  const entries = auditLog.parse(JSON.parse(await run('audit', '--json')));
  const account = 'Acme Staffing';
  expect(entries.map(({ action, details }) => ({ action, details })).toReversed()).toEqual([
    { action: 'publish', details: { publication, force: 'the board closed' } },
    { action: 'rollback', details: { from: publication, to: first } },
    { action: 'prune', details: { deleted: '' } },
    { action: 'keys create', details: { key: key.id, account, verified_by: 'Ada Operator' } },
    {
      action: 'keys rotate',
      details: { key: second.id, account, verified_by: 'Ada Operator', replaced: key.id },
    },
    { action: 'keys revoke', details: { key: key.id, account } },
    { action: 'accounts deactivate', details: { account } },
    { action: 'accounts activate', details: { account } },
  ]);
  const by = `${process.env.SUDO_USER ?? userInfo().username}@${hostname()}`;
  expect(new Set(entries.map((entry) => entry.by))).toEqual(new Set([by]));
  expect(entries.map(({ at }) => at)).toEqual(
    entries
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  );

  const table = await run('audit');
  expect(table).toMatch(/^AT +BY +ACTION +DETAILS\n/);
  expect(table.replaceAll(/\s+/g, ' ')).toContain(`publication ${publication}, force the board closed`);
  expect((await run('audit', '--limit', '2')).split('\n')).toEqual([
    ...table
      .split('\n')
      .slice(0, 3)
      .map((line) => expect.stringContaining(line.slice(0, 60).trim())),
    '',
  ]);
  for (const secret of [key.key, second.key]) expect(table).not.toContain(secret.slice(4, 24));
});
