import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { BOARDS } from '../../src/licenses/boards.ts';
import { casesPeople } from '../support/cases-people.ts';
import { fixturesAnd, nurseRow, pharmacyRow } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';

const answer = z.looseObject({
  license_number: z.string().optional(),
  multiple: z.array(z.object({ license_number: z.string() })).optional(),
  did_you_mean: z.array(z.string()).optional(),
  name_match: z.boolean().optional(),
});

/** Rows with characters that nobody sees. */
const HIDDEN = [
  nurseRow('QXXHID\u00adDEN\ufeff, A\u200bNN\u0001', '\u200eRN.88\u200b0041'),
  nurseRow('QXXHIDDEN, BO', 'RN.880042', {
    TYPE: 'Registered Nurse (RN)\u200b',
    PARCEL_CITY: 'LI\u00adMA',
    BOARD: 'Nursing\u200b Board',
  }),
];

let service: TestService;

beforeAll(async () => {
  const { individual, business } = casesPeople();
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [...individual, ...HIDDEN],
        business: [...business, pharmacyRow('QXX HID\u200bDEN DRUGS', '0288\u00ad00019')],
      }),
  });
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

const NURSING = { board: 'Nursing Board' };
const MEDICAL = { board: 'Medical Board' };
const CHIROPRACTIC = { board: 'Chiropractic Board' };

describe('what nobody sees', () => {
  test.each<[object, string]>([
    [{ ...NURSING, license_number: 'RN.880001\u200b', last_name: 'Qxxobriens' }, 'RN.880001'],
    [{ board: 'Board of Pharmacy', license_number: '\u200e03880009', last_name: 'Qxxpharm' }, '03880009'],
    [{ ...CHIROPRACTIC, license_number: 'DC-\u00ad99010', last_name: 'Qxx\u2060chiro' }, 'DC-99010'],
    [{ ...CHIROPRACTIC, license_number: 'dc\u0000-99010\ufeff', first_name: '\u202aSam\u202c' }, 'DC-99010'],
  ])('is ignored in the request %j', async (typed, number) => {
    expect(await ask(typed)).toEqual({
      status: 200,
      numbers: [number],
      didYouMean: undefined,
      nameMatch: true,
    });
  });

  test.each<[object, string[]]>([
    [
      { ...NURSING, license_number: 'RN.880041', last_name: 'Qxxhidden', first_name: 'Ann' },
      ['\u200eRN.88\u200b0041'],
    ],
    [{ ...NURSING, license_number: 'rn 880041\u200b' }, ['\u200eRN.88\u200b0041']],
    [{ ...NURSING, last_name: 'Qxxhidden', first_name: 'Ann' }, ['\u200eRN.88\u200b0041']],
    [
      { ...NURSING, last_name: 'Qxxhidden', license_type: 'R\u200bN', city: 'Li\u00adma' },
      ['\u200eRN.88\u200b0041', 'RN.880042'],
    ],
    [
      { ...NURSING, last_name: 'Qxxhidden', license_type: 'Registered Nurse', first_name: 'Bo' },
      ['RN.880042'],
    ],
    [
      { board: 'Board of Pharmacy', search_type: 'business', license_number: '028800019' },
      ['0288\u00ad00019'],
    ],
    [
      { board: 'Board of Pharmacy', search_type: 'business', business_name: 'Qxx Hidden' },
      ['0288\u00ad00019'],
    ],
  ])("is ignored in the State's files: %j", async (typed, numbers) => {
    const { nameMatch = true, ...found } = await ask(typed);
    expect({ ...found, nameMatch }).toMatchObject({ status: 200, numbers, nameMatch: true });
  });

  test('is no number', async () => {
    const { status } = await ask({ ...NURSING, license_number: ' \u200b\ufeff ' });
    expect(status).toBe(400);
    const named = { ...NURSING, license_number: '\u00ad', last_name: 'Qxxpharm', board: 'Board of Pharmacy' };
    expect(await ask(named)).toMatchObject({ status: 200, numbers: ['03880009'] });
  });
});

test.each<[object, string, boolean]>([
  [
    { ...NURSING, license_number: 'RN.880004', last_name: 'De la Qxxcruz', first_name: 'Jos\u00e9 RN' },
    'RN.880004',
    true,
  ],
  [
    { ...NURSING, license_number: 'RN.880004', last_name: 'Unrelated', first_name: 'Person RN' },
    'RN.880004',
    false,
  ],
  [
    { ...CHIROPRACTIC, license_number: 'DC-99010', last_name: 'Qxxchiro DC CCSP', first_name: 'Sam' },
    'DC-99010',
    true,
  ],
  [
    {
      ...NURSING,
      license_number: 'RN.880007',
      last_name: 'Ms. Qxxaprn',
      first_name: 'Grace M, APRN-CNP, CEN',
    },
    'RN.880007',
    true,
  ],
  [
    { ...NURSING, license_number: 'RN.880007', last_name: 'Qxxaprn', first_name: 'Grace Ann' },
    'RN.880007',
    false,
  ],
  [{ ...MEDICAL, license_number: '35.880006', last_name: 'Saint Qxxjohn' }, '35.880006', true],
  [{ ...NURSING, license_number: 'RN.998801', last_name: 'Qzklein' }, 'RN.998801', true],
  [{ ...NURSING, license_number: 'RN.998801', last_name: 'Qzklein', first_name: 'Oda V' }, 'RN.998801', true],
  [
    { ...NURSING, license_number: 'RN.998802', last_name: 'Qzklein III', first_name: 'Oda' },
    'RN.998802',
    true,
  ],
  [{ ...NURSING, license_number: 'RN.998803', last_name: 'Qzmora' }, 'RN.998803', true],
  [{ ...NURSING, license_number: 'RN.998803', last_name: 'Qzvega', first_name: 'Luz' }, 'RN.998803', true],
  [{ ...NURSING, license_number: 'RN.998803', last_name: 'Qzvega', first_name: 'Ana' }, 'RN.998803', false],
  [
    { board: 'Cosmetology and Barber Board', license_number: 'COSS.880020', last_name: 'ACME HOLDINGS LLC' },
    'COSS.880020',
    true,
  ],
  [
    { board: 'Cosmetology and Barber Board', license_number: 'COSS.880020', last_name: 'Qxx Star Salon' },
    'COSS.880020',
    true,
  ],
  [
    { board: 'Cosmetology and Barber Board', license_number: 'COSS.880020', last_name: 'Other LLC' },
    'COSS.880020',
    false,
  ],
])(
  'a name sent with a number is compared without what is none of it: %j',
  async (typed, number, nameMatch) => {
    expect(await ask(typed)).toMatchObject({ status: 200, numbers: [number], nameMatch });
  },
);

test.each<readonly [object, string[], string[]?]>([
  [{ ...MEDICAL, last_name: 'Saint Qxxjohn' }, ['35.880006']],
  [{ ...MEDICAL, last_name: 'ST QXXJOHN MD' }, ['35.880006']],
  [{ ...MEDICAL, last_name: 'SaintQxxjohn' }, ['35.880006']],
  [{ ...MEDICAL, last_name: 'Saint Qxxjonh' }, [], ['SAINTQXXJOHN']],
  [{ ...NURSING, last_name: 'Qzklein' }, ['RN.998801', 'RN.998802']],
  [{ ...NURSING, last_name: 'Qzklein', first_name: 'Oda' }, ['RN.998801', 'RN.998802']],
  [{ ...NURSING, last_name: 'Qzklein', first_name: 'Oda V' }, ['RN.998801']],
  [{ ...NURSING, last_name: 'Qzklein V' }, ['RN.998801']],
  [{ ...NURSING, last_name: 'Qxxking 3rd' }, ['RN.880031', 'RN.880033']],
  [{ ...NURSING, last_name: 'Qxxking', first_name: 'Martin' }, ['RN.880031']],
  [{ ...NURSING, last_name: 'Qxxpharm, RN' }, []],
  [{ ...NURSING, last_name: 'Qxxaprn, RN, BSN', first_name: 'Ms. Grace' }, ['RN.880007', 'APRN.CNP.0880007']],
  [{ ...NURSING, last_name: 'Qzmora', first_name: 'Luz' }, [], ['QZMORA QZVEGA, LUZ']],
  [{ ...NURSING, last_name: 'Qzvega' }, [], ['QZMORAQZVEGA']],
  [{ ...NURSING, last_name: 'QZMORA QZVEGA' }, ['RN.998803']],
  [{ ...NURSING, last_name: 'Qxxlopez', first_name: 'Maria' }, [], ['QXXGARCIA QXXLOPEZ, MARIA']],
  [{ ...NURSING, last_name: 'Qxxlopez', first_name: 'Ana' }, [], []],
])('a search by name finds or offers: %j', async (...[typed, numbers, didYouMean]) => {
  const { status, ...answered } = await ask(typed);
  expect(status).toBe(200);
  expect(answered.numbers.toSorted()).toEqual(numbers.toSorted());
  if (didYouMean) expect(answered.didYouMean).toEqual(expect.arrayContaining(didYouMean));
  if (didYouMean?.length === 0) expect(answered.didYouMean).toEqual([]);
});
