import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { evaluationDays } from '../../sample-data/evaluation/days.ts';
import { runProgram } from '../../scripts/processes.ts';
import { changeBody } from '../../src/rest/changes.ts';
import { EXAMPLES, installTypescriptExample, NO_PYTHON } from '../support/examples.ts';
import { fileServer } from '../support/file-server.ts';
import { publishFiles } from '../support/publishing.ts';
import { json, programVariables, type RosterProgram } from '../support/roster-programs.ts';
import { startService, type TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROSTER = `board,license_number
Nursing Board,RN.900418822
Nursing Board,RN.900433210
Nursing Board,RN.900350077
Nursing Board,PN.900120044
Nursing Board,RN.900999999
`;

const folder = temporaryFolder();
const typescript = () => folder.path('typescript');
const PROGRAMS: readonly RosterProgram[] = [
  { folder: typescript, command: [process.execPath, 'follow.ts'] },
  ...(NO_PYTHON === undefined
    ? [{ folder: () => resolve(EXAMPLES, 'python'), command: ['python3', 'follow.py'] } as const]
    : []),
];

let service: TestService;
let address: string;

beforeAll(async () => {
  service = await startService({ files: async (path) => (await evaluationDays(path))[0] ?? [] });
  address = `http://127.0.0.1:${service.environment.config.PORT}`;
  await installTypescriptExample(typescript());
  await writeFile(folder.path('roster.csv'), ROSTER);
}, 180_000);
afterAll(() => service.stop());

const copyOf = z.object({
  cursor: z.string(),
  licenses: z.record(z.string(), z.record(z.string(), z.string())),
});

function copyFile(program: RosterProgram, copyName: string): string {
  return folder.path(`${copyName}-${program.command[1]}.json`);
}

/** Runs a program of the examples with a copy of its own. @param copyName the test's */
async function follow(program: RosterProgram, copyName: string, url = address) {
  const file = copyFile(program, copyName);
  const { code, stdout, stderr } = await runProgram([...program.command, folder.path('roster.csv'), file], {
    cwd: program.folder(),
    variables: programVariables(url, service.rest.key),
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  const changes = lines.map((line) => changeBody.parse(JSON.parse(line)));
  return { code, stderr, changes, copy: copyOf.parse(JSON.parse(await readFile(file, 'utf8'))), file };
}

test('follow keeps a copy of some licenses current', async () => {
  for (const program of PROGRAMS) {
    const { code, stderr, changes, copy } = await follow(program, 'days');
    expect([code, changes, stderr]).toEqual([0, [], expect.stringMatching(/^[^\n]*RN\.900999999[^\n]*\n$/)]);
    expect(Object.keys(copy.licenses)).toHaveLength(4);
    expect(copy.licenses['Nursing Board/RN.900433210']).toMatchObject({ status: 'ACTIVE' });
  }
  const [, second] = await evaluationDays(service.environment.folder);
  if (second === undefined) throw new Error('There is no second day.');
  await publishFiles(service.environment, second);
  for (const program of PROGRAMS) {
    const { code, stderr, changes, copy } = await follow(program, 'days');
    expect([code, stderr]).toEqual([0, '']);
    expect(
      changes.toSorted((one, other) => (one.license_number < other.license_number ? -1 : 1)),
    ).toMatchObject([
      { kind: 'removed', license_number: 'RN.900350077' },
      { kind: 'changed', license_number: 'RN.900418822', fields: { expiry_date: { after: '2027-10-31' } } },
      { kind: 'changed', license_number: 'RN.900433210', fields: { status: { after: 'INACTIVE' } } },
    ]);
    expect(copy.licenses).toMatchObject({
      'Nursing Board/RN.900350077': {},
      'Nursing Board/RN.900418822': { expiry_date: '2027-10-31' },
      'Nursing Board/RN.900433210': {
        status: 'INACTIVE',
        raw_status: 'Inactive - Suspended',
        'extra_data.Board Action': 'Yes',
      },
      'Nursing Board/PN.900120044': { full_name: 'TREMBLAY, JOAN' },
    });
    expect(await follow(program, 'days')).toMatchObject({ code: 0, stderr: '', changes: [], copy });
  }
});

test('follow verifies the roster again when its cursor is no longer kept', async () => {
  for (const program of PROGRAMS) {
    const server = await fileServer(
      json(410, { detail: 'The changes after this cursor are no longer kept.' }),
      json(200, { changes: [], next: 'new', more: false }),
      json(200, { results: Array.from({ length: 5 }, () => ({ outcome: 'not_found', detail: 'none' })) }),
    );
    await writeFile(copyFile(program, 'expired'), JSON.stringify({ cursor: 'old', licenses: {} }));
    try {
      const { code, stderr, copy } = await follow(program, 'expired', new URL(server.url).origin);
      expect([code, copy]).toEqual([0, { cursor: 'new', licenses: {} }]);
      expect(stderr).toMatch(/no longer kept; the roster is verified again/);
    } finally {
      await server.close();
    }
  }
});
