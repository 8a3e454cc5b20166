/** @room clients @long */

import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { evaluationDays } from '../../sample-data/evaluation/days.ts';
import { runProgram } from '../../scripts/processes.ts';
import { cursorText } from '../../src/changes/feed.ts';
import { changeBody } from '../../src/rest/changes.ts';
import { EXAMPLES, inPython, installTypescriptExample } from '../support/examples.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';
import { programVariables, type RosterProgram } from '../support/roster-programs.ts';
import { startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** RN.900999999 appears on the second day, RN.900999998 never. */
const ROSTER = `board,license_number
Nursing Board,RN.900418822
Nursing Board,RN.900433210
Nursing Board,RN.900350077
Nursing Board,PN.900120044
Nursing Board,RN.900999999
Nursing Board,RN.900999998
Nursing Board,RN.900777777
`;
const ADDED_LINE = 'Nursing Board,rn 900500311\n';

/** A row of the evaluation's file of people. */
const nurse = (
  name: string,
  number: string,
  [status, action, subStatus]: readonly string[],
  issued: string,
) =>
  `"${name}",Nursing Board,${number},Registered Nurse (RN),${status},${action},LIMA,OH,Allen,` +
  `${issued},2027-10-31,,${subStatus},,,,,\n`;
const ACTIVE = ['Active', 'No', ''];
const SUSPENDED_ROW = nurse('HELD, IDA', 'RN.900888888', ['Inactive', 'Yes', 'Suspended'], '2000-01-01');
/** The State writes the number of the first day in another way on the second. */
const RENUMBERED_ROW = nurse('REWRITTEN, RAY', 'RN.900777777', ACTIVE, '2000-01-01');
const NEW_ROW = nurse('NEWLY, LICENSED', 'RN.900999999', ACTIVE, '2026-11-20');

const folder = temporaryFolder();
const typescript = () => folder.path('typescript');
const PROGRAMS: readonly RosterProgram[] = [
  { folder: typescript, command: [process.execPath, 'follow.ts'] },
  ...inPython({ folder: () => resolve(EXAMPLES, 'python'), command: ['python3', 'follow.py'] } as const),
];

let secondDay: DatasetFiles;

const service = await startService({
  files: async (path) => {
    const [first, second] = await evaluationDays(path);
    if (first === undefined || second === undefined) throw new Error('There are not two days.');
    await appendFile(first.individual, SUSPENDED_ROW + RENUMBERED_ROW);
    const renumbered = RENUMBERED_ROW.replace('RN.', 'RN-');
    await appendFile(second.individual, SUSPENDED_ROW + NEW_ROW + renumbered);
    secondDay = second;
    return first;
  },
});
const address = `http://127.0.0.1:${service.environment.config.PORT}`;
await installTypescriptExample(typescript());

const copyOf = z.object({
  cursor: z.string(),
  numbers: z.record(z.string(), z.string()),
  licenses: z.record(z.string(), z.record(z.string(), z.string())),
});
type Copy = z.output<typeof copyOf>;

const printed = z.looseObject(
  changeBody.pick({ kind: true, board: true, license_number: true, fields: true }).shape,
);

const copyFile = ({ command }: RosterProgram, copyName: string) =>
  folder.path(`${copyName}-${command[1]}.json`);

/** Writes the copy of a test, for the next run. */
const write = (program: RosterProgram, copyName: string, copy: Partial<Copy>) =>
  writeFile(copyFile(program, copyName), JSON.stringify(copy));

/** Runs a program of the examples with a copy of its own. @param copyName the test's */
async function follow(program: RosterProgram, copyName: string, roster = ROSTER) {
  await writeFile(folder.path('roster.csv'), roster);
  const file = copyFile(program, copyName);
  const { code, stdout, stderr } = await runProgram([...program.command, folder.path('roster.csv'), file], {
    cwd: program.folder(),
    variables: programVariables(address, service.rest.key),
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  const changes = lines
    .map((line) => printed.parse(JSON.parse(line)))
    .toSorted((one, other) => (one.license_number < other.license_number ? -1 : 1));
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return { stderr, changes, copy: copyOf.parse(JSON.parse(await readFile(file, 'utf8'))) };
}

const NEVER_FOUND = expect.stringMatching(/^[^\n]*RN\.900999998[^\n]*\n$/);

test('follow keeps a copy of some licenses current', async () => {
  for (const program of PROGRAMS) {
    const { stderr, changes, copy } = await follow(program, 'days');
    expect([changes, stderr]).toEqual([
      [],
      expect.stringMatching(/^[^\n]*RN\.900999999[^\n]*\n[^\n]*RN\.900999998[^\n]*\n$/),
    ]);
    expect(Object.keys(copy.licenses)).toHaveLength(5);
    expect(copy.licenses['Nursing Board/RN.900433210']).toMatchObject({ status: 'ACTIVE' });
  }
  await publishFiles(service.environment, secondDay);
  for (const program of PROGRAMS) {
    const roster = ROSTER + ADDED_LINE;
    const { stderr, changes, copy } = await follow(program, 'days', roster);
    expect(stderr).toEqual(NEVER_FOUND);
    expect(changes).toMatchObject([
      { kind: 'added', license_number: 'RN-900777777', renumbered_from: 'RN.900777777' },
      { kind: 'removed', license_number: 'RN.900350077' },
      { kind: 'changed', license_number: 'RN.900418822', fields: { expiry_date: { after: '2027-10-31' } } },
      { kind: 'changed', license_number: 'RN.900433210', fields: { status: { after: 'INACTIVE' } } },
      { kind: 'removed', license_number: 'RN.900777777' },
      { kind: 'added', license_number: 'RN.900999999' },
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
      'Nursing Board/RN.900999999': { full_name: 'NEWLY, LICENSED' },
      'Nursing Board/RN.900500311': { full_name: 'OKONKWO, DANIEL' },
      'Nursing Board/RN-900777777': { full_name: 'REWRITTEN, RAY' },
    });
    expect(copy.numbers).toMatchObject({
      'Nursing Board/rn 900500311': 'Nursing Board/RN.900500311',
      'Nursing Board/RN.900777777': 'Nursing Board/RN-900777777',
    });
    const again = await follow(program, 'days', roster);
    expect(again).toEqual({ stderr: NEVER_FOUND, changes: [], copy });
  }
});

test('follow prints what differs when its cursor is no longer kept', async () => {
  const roster = `board,license_number
Nursing Board,RN.900888888
Nursing Board,PN.900120044
Nursing Board,rn 900720001
`;
  const board = 'Nursing Board';
  for (const program of PROGRAMS) {
    const { copy } = await follow(program, 'expired', roster + ADDED_LINE);
    const [held, added] = [`${board}/RN.900888888`, `${board}/RN.900500311`];
    const active = { status: 'ACTIVE', raw_status: 'Active', 'extra_data.Board Action': 'No' };
    await write(program, 'expired', {
      ...copy,
      cursor: cursorText({ feed: 'ended', position: 1 }),
      licenses: {
        ...copy.licenses,
        [held]: { ...copy.licenses[held], ...active },
        [`${board}/PN.900120044`]: {},
        [`${board}/RN.900000001`]: { status: 'ACTIVE' },
        [added]: { ...copy.licenses[added], city: 'LIMA' },
      },
    });
    const { stderr, changes, copy: current } = await follow(program, 'expired', roster);
    expect(stderr).toMatch(
      /no longer kept; all licenses are looked up again[^\n]*\n[^\n]*RN\.900000001[^\n]*\n$/,
    );
    const of = (kind: string, license_number: string, fields: object) => ({
      ...{ kind, board, license_number, fields },
    });
    const tremblay = expect.objectContaining({ full_name: { before: null, after: 'TREMBLAY, JOAN' } });
    expect(changes).toEqual([
      of('added', 'PN.900120044', tremblay),
      of('removed', 'RN.900000001', { status: { before: 'ACTIVE', after: null } }),
      of('changed', 'RN.900500311', { city: { before: 'LIMA', after: 'TOLEDO' } }),
      of('changed', 'RN.900888888', {
        status: { before: 'ACTIVE', after: 'INACTIVE' },
        raw_status: { before: 'Active', after: 'Inactive - Suspended' },
        'extra_data.Board Action': { before: 'No', after: 'Yes' },
      }),
    ]);
    expect(current.licenses).toEqual({ ...copy.licenses, [`${board}/RN.900000001`]: {} });
    expect(current.numbers).toMatchObject(copy.numbers);
    expect(await follow(program, 'expired', roster)).toEqual({ stderr: '', changes: [], copy: current });
  }
});

test('follow goes on with a copy of an earlier version, and leaves the fields that it has', async () => {
  for (const program of PROGRAMS) {
    const { copy } = await follow(program, 'earlier');
    const known = { 'Nursing Board/PN.900120044': { city: 'ELSEWHERE' } };
    const licenses = { ...known, 'Nursing Board/RN.900000001': {} };
    await write(program, 'earlier', { cursor: copy.cursor, licenses });
    const roster = `board,license_number
Nursing Board,PN.900120044
Nursing Board,pn 900120044
Nursing Board,RN.900000001
`;
    expect(await follow(program, 'earlier', roster)).toMatchObject({
      stderr: '',
      changes: [],
      copy: { licenses, numbers: { 'Nursing Board/pn 900120044': 'Nursing Board/PN.900120044' } },
    });
  }
});
