/** @long @room publishing */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { apiClient } from '../support/api.ts';
import { allChanges } from '../support/changes.ts';
import { type HostileRow, hostileRows, isChecked, writeHostileDay } from '../support/hostile-rows.ts';
import { publishFiles } from '../support/publishing.ts';
import { HIGH_LIMITS } from '../support/service.ts';

/** They are forced, and lookups must find their licenses all the same. */
const WITHOUT_CANARY = expect.not.arrayContaining([expect.stringMatching(/^canary: /)]);

const ROWS = hostileRows();
const VALID = ROWS.filter(({ column }) => !isChecked(column));
/** Clients can name only the boards of the catalog. */
const FINDABLE = VALID.filter(({ column }) => column !== 'BOARD');

const AT_ONCE = 50;

const environment = await testEnvironment(HIGH_LIMITS);
const other = await testEnvironment();
const rest = await apiClient(environment);
const publications: string[] = [];

/** Runs a command that must succeed. @returns what it printed */
async function run({ variables }: TestEnvironment, ...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await licenses(variables, ...parameters);
  expect({ parameters, code, stderr }).toEqual({ parameters, code: 0, stderr: '' });
  return stdout;
}

async function publish(date: string, rows: readonly HostileRow[]): Promise<void> {
  const result = await publishFiles(environment, await writeHostileDay(environment.folder, date, rows));
  expect(result).toMatchObject({ state: 'live', rows: rows.length, overridden: WITHOUT_CANARY });
  publications.push(result.publication);
}

/** The first day without three of its rows, and the rest in another county; what has a hostile county, in another city. */
function secondDay(): HostileRow[] {
  return ROWS.slice(3).map((row) => {
    const place = row.column === 'PARCEL_COUNTY' ? { PARCEL_CITY: 'DAYTON' } : { PARCEL_COUNTY: 'ALLEN' };
    return { ...row, fields: { ...row.fields, ...place } };
  });
}

const record = z.looseObject({ license_number: z.string() });
const lookedUp = z.union([record, z.looseObject({ multiple: z.array(record) })]);

/** Looks the row's license up and expects its value to come back. */
async function expectFound(row: HostileRow): Promise<void> {
  const isPerson = row.file === 'individual';
  const board = isPerson ? 'Nursing Board' : 'Board of Pharmacy';
  const byNumber = await rest.verify({ board, license_number: row.number });
  expect({ row, status: byNumber.status }).toEqual({ row, status: 200 });
  expect(textsIn(byNumber.body).some((text) => isSame(text, row.value)) || [row, byNumber.body]).toBe(true);
  if (row.name === row.value) return;
  const [last_name, first_name] = row.name.split(', ');
  const asked = isPerson ? { last_name, first_name } : { search_type: 'business', business_name: row.name };
  const byName = await rest.verify({ board, ...asked });
  expect({ row, status: byName.status }).toEqual({ row, status: 200 });
  const found = lookedUp.parse(byName.body);
  expect(JSON.stringify(found)).toContain(row.number);
}

/** Statuses are answered with their sub-status, and names with one blank after the comma. */
function isSame(text: string, value: string): boolean {
  const plain = (each: string) => each.replaceAll(/\s*,\s*/g, ', ');
  return [plain(value), `Active - ${value}`].includes(plain(text));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test(
  'rows with names of properties and other hostile values in every column are published, answered, rolled back, ' +
    'listed, pruned, backed up, restored and survive restarts',
  async () => {
    const api = await startApi(environment.variables);
    await publish('2026-11-01', ROWS);
    await publish('2026-11-02', secondDay());
    await run(environment, 'rollback', '--json');
    await publish('2026-11-03', secondDay());
    for (let at = 3; at < FINDABLE.length; at += AT_ONCE)
      await Promise.all(FINDABLE.slice(at, at + AT_ONCE).map(expectFound));

    const changes = await allChanges(rest, '', 1000);
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(['added', 'changed', 'removed']));
    const changed = new Set(changes.map(({ license_number }) => license_number));
    for (const { number } of VALID) expect(changed).toContain(number);
    const boards = VALID.filter(({ column, file }) => column === 'BOARD' && file === 'individual');
    const named = new Set(changes.map(({ board }) => board));
    for (const { value } of boards) expect(named).toContain(value);

    for (const path of ['/status', '/data', '/', '/developers'])
      expect([path, (await rest.get(path)).status]).toEqual([path, 200]);
    const { body } = await rest.get('/status');
    const counted = z.object({ licenses_by_board: z.unknown() }).parse(body);
    // Both files have each.
    const byBoard = new Map(Object.entries(counted.licenses_by_board ?? {}));
    for (const { value } of boards) expect([value, byBoard.get(value)]).toEqual([value, 2]);
    const people = FINDABLE.filter(({ file, name }) => file === 'individual' && /\w/.test(name));
    for (const { number, value } of people.slice(3, 60)) {
      const page = await rest.get(`/licenses/NUR/${encodeURIComponent(number)}`);
      const history = await rest.get(`/api/v1/history?board=Nursing+Board&license_number=${number}`);
      const asked = { board: 'Nursing Board', license_number: number };
      const tool = await rest.callTool('verify_license', asked);
      expect([value, page.status, history.status, tool.status]).toEqual([value, 200, 200, 200]);
      expect(tool.text).toContain(number);
    }

    await run(environment, 'publications');
    for (const id of publications) {
      const to = join(environment.folder, `changes-${id}.csv`);
      await run(environment, 'publications', 'show', id, '--changes', to, '--rejects', `${to}.rejects`);
    }
    await run(environment, 'prune');
    await api.stop();
    await startApi(environment.variables);
    for (const row of FINDABLE.slice(3, 13)) await expectFound(row);
    await (await startWorker(environment.variables)).stop();

    const backup = join(environment.folder, 'hostile.backup');
    await run(environment, 'backup', backup);
    await run(other, 'restore', backup);
    const again = await writeHostileDay(other.folder, '2026-11-03', secondDay());
    const result = await publishFiles(other, again);
    expect(result).toMatchObject({ state: 'live', overridden: WITHOUT_CANARY });
    await run(environment, 'rollback');
  },
);
