import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { runProgram } from '../../scripts/processes.ts';
import { describeUnless, missing } from '../support/describe-unless.ts';
import { EXAMPLES, installTypescriptExample, npm } from '../support/examples.ts';
import { answered, type FileAnswer } from '../support/file-server.ts';
import { times } from '../support/fixtures.ts';
import { NO_PYTHON } from '../support/python.ts';
import {
  json,
  type RosterProgram,
  type RosterRun,
  rosterOf,
  runAgainst,
  verifyRoster,
} from '../support/roster-programs.ts';
import { startSampleService } from '../support/shared-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NURSING = 'Nursing Board';
const MAX_TRIES = 5;

const folder = temporaryFolder();

const service = await startSampleService();

const ONE_LINE = rosterOf('Nursing Board,RN.987654321,Example');
const RECORD = {
  ...{ license_number: 'RN.987654321', license_type: 'Registered Nurse (RN)', expiry_date: '2099-01-01' },
  ...{ status: 'ACTIVE', raw_status: 'Active', cautions: [], name_match: true },
  last_scraped: '2026-11-20T00:00:00',
};
const FOUND = { ...RECORD, found: true, board: NURSING };

/** An answer in which every item is found. */
function foundAnswer(items: number): FileAnswer {
  const found = { reference: null, outcome: 'found', record: RECORD };
  const results = times(items, (at) => ({ index: at - 1, ...found }));
  const answer = json(200, { count: items, results });
  // A client that is still sending its roster would lose its connection.
  return (request, response) => request.resume().once('end', () => answer(request, response));
}

const TOO_FAST = json(429, { detail: 'Too many requests; try again in 1 seconds.' }, { 'retry-after': '1' });

function verifiesRosters(program: RosterProgram): void {
  test('prints a result for each line of examples/roster.csv and others, in their order', async () => {
    const roster = await readFile(resolve(EXAMPLES, 'roster.csv'), 'utf8');
    const { code, lines, stderr } = await verifyRoster({ service, folder }, program, {
      roster: `${roster.trimEnd()}\nMedical Board,35.022408,Nobody\n`,
    });
    const found = (license_number: string, name_match: boolean | null) =>
      expect.objectContaining({ license_number, found: true, name_match });
    expect(lines).toEqual([
      ...[found('RN.987654321', true), found('S.987654321', true), found('02987654321', null)],
      {
        ...{ found: false, board: NURSING, license_number: 'RN.987654312' },
        detail: expect.stringContaining(`dataset of ${service.date}`),
        did_you_mean: ['RN.987654321'],
      },
      {
        ...{ found: true, last_scraped: `${service.date}T00:00:00`, name_match: false },
        ...{ board: 'Medical Board', license_number: '35.022408', expiry_date: '2018-06-02' },
        ...{ status: 'INACTIVE', raw_status: 'Inactive - Revocation' },
        license_type: 'Doctor of Medicine (MD)',
        cautions: ['name_mismatch', 'not_active', 'sub_status', 'board_action'],
      },
    ]);
    expect([code, stderr]).toEqual([0, '']);
  });

  test('reads a spreadsheet’s CSV from standard input, and exits 1 when a line could not be looked up', async () => {
    const rows = ['Wizards,RN.987654321,Example', 'Nursing Board,,Smith', 'Nursing Board,RN.987654321,Jones'];
    const { code, lines } = await verifyRoster({ service, folder }, program, {
      roster: `\uFEFF${rosterOf(...rows).replaceAll('\n', '\r\n')}`,
      isPiped: true,
    });
    expect(lines).toEqual([
      { board: 'Wizards', license_number: 'RN.987654321', error: expect.stringContaining('No board') },
      { board: NURSING, license_number: '', error: 'The roster has no number here.' },
      expect.objectContaining({ found: true, raw_status: 'Active', name_match: false }),
    ]);
    expect(code).toBe(1);
  });

  const NO_SERVICE = { address: 'http://127.0.0.1:3' };
  const NO_NUMBER = /^The roster.s first line must name a column license_number.\n$/;

  test.each<[what: string, run: Partial<RosterRun>, says: RegExp]>([
    ['the key is wrong', { key: 'olv_wrong' }, /^Invalid or inactive API key\n$/],
    ['the address is wrong', NO_SERVICE, /^[^\n]*(?:refused|ECONNREFUSED)[^\n]*\n$/],
    ['the columns are wrong', { roster: 'board,number\n' }, NO_NUMBER],
    ['there is no file', { file: 'nowhere.csv' }, /^[^\n]*nowhere.csv[^\n]*\n$/],
  ])('exits 1 with one message when %s', async (_what, run, says) => {
    const ended = await verifyRoster({ service, folder }, program, { roster: ONE_LINE, ...run });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(says) });
  });

  test('retries after the Retry-After of a 429', async () => {
    const result = await runAgainst({ service, folder }, program, ONE_LINE, TOO_FAST, foundAnswer(1));
    expect(result).toMatchObject({ code: 0, lines: [FOUND] });
    expect(result.requests).toHaveLength(2);
    for (const headers of result.requests) expect(headers['x-api-key']).toBe(service.rest.key);
    expect(result.milliseconds).toBeGreaterThan(1000);
  });

  test('gives up after some tries, or when Retry-After is too long', async () => {
    for (const [detail, headers, tries] of [
      ['Lookups are not available right now.', { 'retry-after': '1' }, MAX_TRIES],
      ['Come back tomorrow.', { 'retry-after': '86400' }, 1],
    ] as const) {
      const away = json(503, { detail }, headers);
      const tried = await runAgainst({ service, folder }, program, ONE_LINE, away);
      expect(tried).toMatchObject({ code: 1, lines: [], stderr: `${detail}\n` });
      expect(tried.requests).toHaveLength(tries);
    }
  });

  test('reports a 404 of another server as an error, not as a number that was not found', async () => {
    const page = answered(404, { 'content-type': 'text/html' }, '<h1>Not found</h1>');
    const result = await runAgainst({ service, folder }, program, ONE_LINE, page);
    expect(result).toMatchObject({ code: 1, lines: [], stderr: 'The answer was 404.\n' });
  });

  test('sends 1,000 lines in a request', async () => {
    const rows = times(2500, () => 'Nursing Board,RN.987654321,Example');
    const answers = [foundAnswer(1000), foundAnswer(1000), foundAnswer(500)];
    const sent = await runAgainst({ service, folder }, program, rosterOf(...rows), ...answers);
    expect([sent.code, sent.lines.length, sent.requests.length]).toEqual([0, 2500, 3]);
  });
}

describe('examples/typescript', () => {
  const copy = () => folder.path('typescript');

  beforeAll(async () => {
    await installTypescriptExample(copy());
    await npm(copy(), 'run', 'types', '--', `${service.url}/openapi.json`);
  });

  test('compiles with types generated from the served OpenAPI document', () => npm(copy(), 'run', 'check'));

  test('has a lock file without registry addresses', async () => {
    const lock = z.object({ packages: z.record(z.string(), z.looseObject({})) });
    const { packages } = lock.parse(JSON.parse(await readFile(resolve(copy(), 'package-lock.json'), 'utf8')));
    expect(Object.entries(packages).filter(([, entry]) => 'resolved' in entry)).toEqual([]);
  });

  verifiesRosters({ folder: copy, command: [process.execPath, 'verify.ts'] });
});

describeUnless(NO_PYTHON, 'examples/python', () => {
  verifiesRosters({ folder: () => resolve(EXAMPLES, 'python'), command: ['python3', 'verify.py'] });
});

describeUnless(missing('curl'), 'examples/curl.sh', () => {
  const ask = (key: string) =>
    runProgram(['bash', resolve(EXAMPLES, 'curl.sh')], {
      variables: { LICENSES_URL: service.url, LICENSES_KEY: key },
    });

  /** The response and its status under each heading. */
  function answersIn(output: string): { readonly body: unknown; readonly status: number }[] {
    const sections = output.split(/^# .*\n/m).slice(1);
    return sections.map((section) => {
      const lines = section.trim().split(/\r?\n/);
      const status = Number(lines.pop());
      const [only = '', another] = lines.filter((line) => line !== '');
      // Two lines are CSV.
      return { body: another === undefined ? JSON.parse(only) : another, status };
    });
  }

  test('prints status, boards, types, a person, a number, a number that is not found, a business, rosters and changes', async () => {
    const { code, stdout, stderr } = await ask(service.rest.key);
    expect([code, stderr]).toEqual([0, '']);
    const number = 'RN.987654321';
    const person = { full_name: 'EXAMPLE, PAT SAMPLE', license_number: number, raw_status: 'Active' };
    expect(answersIn(stdout)).toMatchObject([
      { status: 200, body: { publication: { date: service.date, sample: true } } },
      { status: 200, body: { boards: expect.arrayContaining([NURSING]) } },
      { status: 200, body: { board: NURSING } },
      { status: 200, body: person },
      { status: 200, body: { ...person, name_match: true } },
      { status: 404, body: { did_you_mean: [number] } },
      { status: 200, body: { found: true, full_name: 'EXAMPLE PHARMACY INC' } },
      { status: 200, body: { summary: { found: 1, ambiguous: 1, not_found: 0, invalid: 0 } } },
      { status: 200, body: expect.stringMatching(/^RN\.987654321,Nursing Board,found,Clear,RN\.987654321,/) },
      { status: 200, body: { changes: [], more: false } },
      { status: 200, body: { changes: [], more: false } },
      { status: 200, body: { coverage_start: service.date, record: person, changes: [] } },
    ]);
  });

  test('prints the error for a wrong key', async () => {
    const { code, stdout } = await ask('olv_wrong');
    expect(code).toBe(0);
    const [, ...locked] = answersIn(stdout);
    for (const answer of locked)
      expect(answer).toEqual({ status: 401, body: { detail: 'Invalid or inactive API key' } });
    expect(await runProgram(['bash', resolve(EXAMPLES, 'curl.sh')])).toMatchObject({ code: 1, stdout: '' });
  });
});
