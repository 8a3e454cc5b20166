import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { BOARDS } from '../../src/licenses/boards.ts';
import { casesPeople } from '../support/cases-people.ts';
import { fixturesAnd } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';

const answer = z.looseObject({
  license_number: z.string().optional(),
  multiple: z.array(z.object({ license_number: z.string() })).optional(),
  did_you_mean: z.array(z.string()).optional(),
  name_match: z.boolean().optional(),
});

let service: TestService;

beforeAll(async () => {
  service = await startService({ files: (folder) => fixturesAnd(folder, casesPeople()) });
});
afterAll(() => service.stop());

async function ask(typed: object) {
  const { status, body } = await service.rest.verify(typed);
  const { multiple, license_number: number, ...rest } = answer.parse(body);
  const numbers = (multiple ?? [{ license_number: number }]).flatMap(
    ({ license_number: each }) => each ?? [],
  );
  return { status, numbers, didYouMean: rest.did_you_mean, nameMatch: rest.name_match };
}

test('each of the people is found by number', async () => {
  const { individual, business } = casesPeople();
  for (const row of [...individual, ...business]) {
    const board = row.BOARD ?? row.board_name;
    const number = row.LICENSE_NUMBER ?? row.license_number ?? '';
    expect(BOARDS.map(({ name }) => name)).toContain(board);
    expect(await ask({ board, license_number: number })).toMatchObject({ status: 200, numbers: [number] });
  }
});
