import { beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { boardActivity } from '../../src/changes/board-activity.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { MISTYPED_BOARDS, WRITTEN_OTHERWISE } from '../fixtures/mistyped-boards.ts';
import { detailIn } from '../support/answers.ts';
import type { ApiClient } from '../support/api.ts';
import { sharedService } from '../support/shared-service.ts';
import { verifies } from '../support/verifies.ts';

const PATH = '/api/v1/lookup/boards';
const COUNSELORS = 'Counselor, Social Worker and Marriage and Family Therapist Board';

const boardsAnswer = z.strictObject({
  boards: z.array(z.string()),
  board_details: z.record(
    z.string(),
    z.strictObject({ code: z.string(), license_types: z.array(z.string().min(1)) }),
  ),
  board_activity: z.record(z.string(), z.strictObject(boardActivity.shape)),
});

const typesAnswer = z.strictObject({
  board: z.string(),
  code: z.string(),
  license_types: z.array(z.string().min(1)),
});

let rest: ApiClient;

beforeAll(async () => {
  ({ rest } = await sharedService());
});

verifies(
  ['BOARDS-04', 'BOARDS-01', 'BOARDS-03', 'SERVICE-04', 'ERRORS-01'],
  'all 24 boards are listed by name, with the code and the license types of each',
  async () => {
    const answer = await rest.get(PATH);
    expect(answer.status).toBe(200);
    const { boards, board_details, board_activity } = boardsAnswer.parse(answer.body);
    expect(boards).toHaveLength(24);
    expect(new Set(boards).size).toBe(24);
    expect(boards).toEqual(expect.arrayContaining(['Nursing Board', 'Board of Pharmacy', 'Medical Board']));
    expect(boards).toEqual(expect.arrayContaining(['Accountancy Board', 'Architects Board']));
    expect(Object.keys(board_details)).toEqual(boards);
    expect(Object.keys(board_activity)).toEqual(boards);
    for (const { name, code } of BOARDS) expect(board_details[name]?.code).toBe(code);
  },
);

verifies(
  ['BOARDS-05', 'BOARDS-06', 'SERVICE-04'],
  'the types path of each board returns the same types as the list of all boards',
  async () => {
    const { board_details } = boardsAnswer.parse((await rest.get(PATH)).body);
    for (const { name, code } of BOARDS) {
      const answer = await rest.get(`${PATH}/${encodeURIComponent(name)}/types`);
      expect(answer.status).toBe(200);
      expect(typesAnswer.parse(answer.body)).toEqual({
        board: name,
        code,
        license_types: board_details[name]?.license_types,
      });
    }
  },
);

verifies(
  'BOARDS-09',
  'license types come from the live publication, or from the catalog for a board without rows',
  async () => {
    const { board_details } = boardsAnswer.parse((await rest.get(PATH)).body);
    const catalog = (board: string) =>
      BOARDS.find(({ name }) => name === board)?.license_types.map((type) => type.name);
    const nursing = board_details['Nursing Board']?.license_types ?? [];
    expect(nursing).toEqual([
      'APRN - Certified Nurse Practitioner (CNP)',
      'Licensed Practical Nurse (LPN)',
      'Registered Nurse (RN)',
    ]);
    expect(catalog('Nursing Board')?.length).toBeGreaterThan(nursing.length);
    expect(board_details['Architects Board']?.license_types).toEqual(catalog('Architects Board'));
  },
);

verifies('BOARDS-08', 'a board name in the path may be percent-encoded in any valid way', async () => {
  const encoded = [
    'Board%20of%20Pharmacy',
    '%42oard%20of%20%50harmacy',
    encodeURIComponent(COUNSELORS),
    COUNSELORS.replaceAll(' ', '%20'),
    encodeURIComponent('Div. of Industrial Compliance: Elevator'),
  ];
  for (const path of encoded) {
    const answer = await rest.get(`${PATH}/${path}/types`);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(typesAnswer.parse(answer.body).board).toBe(decodeURIComponent(path));
  }
});

verifies(
  ['BOARDS-07', 'BOARDS-02', 'ERRORS-08'],
  'an unknown or misspelled board in the path gets 400, which names the nearest board',
  async () => {
    const names = BOARDS.map(({ name }) => name);
    const nearestTo = async (path: string): Promise<string> => {
      const detail = detailIn(await rest.get(`${PATH}/${path}/types`), 400);
      return /the nearest is "(.+)"\. GET/.exec(detail)?.[1] ?? detail;
    };
    for (const [label, nearest] of MISTYPED_BOARDS.slice(-WRITTEN_OTHERWISE)) {
      expect([label, await nearestTo(encodeURIComponent(label))]).toEqual([label, nearest]);
    }
    expect(await nearestTo('Nursing+Board')).toBe('Nursing Board');
    expect(await nearestTo('Nursing%20Board%20')).toBe('Nursing Board');
    for (const path of ['%E0%A4%A', '*', 'x'.repeat(3000)]) {
      expect(names).toContain(await nearestTo(path));
    }
    expect(await nearestTo('%20')).toBe('board is needed.');
  },
);
