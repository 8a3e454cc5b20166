import { expect } from '@jest/globals';
import { z } from 'zod';
import { boardActivity } from '../../src/changes/board-activity.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import mistypedBoards from '../fixtures/mistyped-boards.json' with { type: 'json' };
import { detailIn, safeDetailIn } from '../support/answers.ts';
import { sharedService } from '../support/shared-service.ts';
import { verifies } from '../support/verifies.ts';

const PATH = '/api/v1/lookup/boards';

const boardsAnswer = z.strictObject({
  boards: z.array(z.string()),
  board_details: z.record(
    z.string(),
    z.strictObject({ code: z.string(), license_types: z.array(z.string().min(1)) }),
  ),
  board_activity: z.record(z.string(), z.strictObject(boardActivity.shape)),
});

const { rest } = await sharedService();
const listed = boardsAnswer.parse((await rest.get(PATH)).body);

verifies(['BOARDS-04', 'BOARDS-01', 'BOARDS-03', 'SERVICE-04', 'ERRORS-01'], 'the list has 24 boards', () => {
  const { boards, board_details, board_activity } = listed;
  expect(boards).toHaveLength(24);
  expect(boards.toSorted()).toEqual(BOARDS.map(({ name }) => name).toSorted());
  expect([Object.keys(board_details), Object.keys(board_activity)]).toEqual([boards, boards]);
  expect(BOARDS.map(({ name }) => board_details[name]?.code)).toEqual(BOARDS.map(({ code }) => code));
});

verifies(['BOARDS-05', 'BOARDS-06', 'SERVICE-04'], 'the path of each board has its types', async () => {
  const answers = await Promise.all(
    BOARDS.map(({ name }) => rest.get(`${PATH}/${encodeURIComponent(name)}/types`)),
  );
  expect(answers.map(({ status, body }) => [status, body])).toEqual(
    BOARDS.map(({ name }) => [200, { board: name, ...listed.board_details[name] }]),
  );
});

verifies('BOARDS-09', 'license types are those of the live publication, else of the catalog', () => {
  const { 'Nursing Board': nursing, 'Architects Board': architects } = listed.board_details;
  expect(nursing?.license_types).toEqual([
    'APRN - Certified Nurse Practitioner (CNP)',
    'Licensed Practical Nurse (LPN)',
    'Registered Nurse (RN)',
  ]);
  const catalog = BOARDS.find(({ name }) => name === 'Architects Board')?.license_types;
  expect(architects?.license_types).toEqual(catalog?.map(({ name }) => name));
});

verifies('BOARDS-08', 'a board name in the path may be percent-encoded in any valid way', async () => {
  for (const path of ['Board%20of%20Pharmacy', '%42oard%20of%20%50harmacy']) {
    const { body } = await rest.get(`${PATH}/${path}/types`);
    expect(body).toMatchObject({ board: 'Board of Pharmacy' });
  }
});

verifies(
  ['BOARDS-07', 'BOARDS-02', 'ERRORS-08', 'LOOKUP-02', 'ERRORS-02'],
  'an unknown or misspelled board gets 400, which names the nearest board',
  async () => {
    const answersTo = (board: string) =>
      Promise.all([
        rest.get(`${PATH}/${encodeURIComponent(board)}/types`),
        rest.verify({ board, license_number: 'RN.700002' }),
      ]);
    for (const [board, nearest] of Object.entries(mistypedBoards.written_otherwise)) {
      const detail = `No board has exactly the name given; the nearest is "${nearest}". GET /lookup/boards lists all.`;
      const said = (await answersTo(board)).map((answer) => safeDetailIn(answer, 400));
      expect([board, ...said]).toEqual([board, detail, detail]);
    }
    const nearestTo = async (path: string) => {
      const detail = detailIn(await rest.get(`${PATH}/${path}/types`), 400);
      return /the nearest is "(.+)"\. GET/.exec(detail)?.[1] ?? detail;
    };
    expect(await nearestTo('Nursing%20Board%20')).toBe('Nursing Board');
    for (const path of ['%E0%A4%A', '*', 'x'.repeat(3000)])
      expect(listed.boards).toContain(await nearestTo(path));
    expect(await nearestTo('%20')).toBe('board is needed.');
  },
);
