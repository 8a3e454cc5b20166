import { expect, test } from '@jest/globals';
import { missDetail, missMessage } from '../../src/answers/words.ts';
import type { Miss, NotFoundReason } from '../../src/licenses/lookup.ts';
import { boardOfCode } from '../support/boards.ts';

const DATE = '2026-11-20';
const DATASET = "in the State's dataset of 2026-11-20";
const NURSING = boardOfCode('NUR');

function number(reason: NotFoundReason, fields: Partial<Miss> = {}): Miss {
  const request = { by: 'number', number: 'RN 1', board: NURSING, businessOnly: false } as const;
  return { outcome: 'none', reason, request, didYouMean: [], ...fields };
}

const PERSON = { by: 'person', board: NURSING, lastName: 'Bowen', filters: {} } as const;

function name(fields: Partial<Miss> = {}): Miss {
  return { outcome: 'none', reason: 'unknown', request: PERSON, didYouMean: [], ...fields };
}

test.each([
  ['2026-11-22', ''],
  ['2026-11-23', ' The data is late: 3 days old. What happened since is not in it.'],
  ['2026-12-01', ' The data is stale: 11 days old. What happened since is not in it.'],
  ['2026-11-19', ' The data is stale: its date has not come yet.'],
])('the detail of a miss is its message, the authority and, on %s, the age of the data', (today, age) => {
  const miss = name();
  expect(missDetail(miss, { date: DATE, today }, 'rest')).toBe(
    `${missMessage(miss, DATE, 'rest')} The issuing board is the authority; ask it before you conclude anything.${age}`,
  );
});

const TWO = ['RN.1', 'RN.01'];
const BOTH = ['Medical Board', 'Nursing Board'];
const NONE = `No license with the number "RN 1" is ${DATASET}.`;
const SIMILAR = 'Similar numbers that exist: RN.1, RN.01.';
const FITS_TWO = `The number "RN 1", written like this, fits more than one license ${DATASET}.`;
const AT_TWO = `More than one board has a license with the number "RN 1" ${DATASET}: the Medical Board and the Nursing Board.`;
const GONE = `A license with the number "RN 1" was in an earlier dataset, but is not ${DATASET}.`;
const ASK = 'The dataset does not say why; ask the board.';
const STATED = 'Ask the board about the license.';
const LAST = 'It was last in the dataset of 2026-11-19; its status then: Active - Probation.';
const PROBATION = { last_in_dataset: '2026-11-19', last_raw_status: 'Active - Probation' };
const UNREAD = 'This service cannot check right now whether such a license was removed. Try again later.';
const OF_PERSON = `The number "RN 1" is a person's, not a business's, ${DATASET}.`;
const ELSEWHERE = `The number "RN 1" belongs to the Medical Board and the Nursing Board, not to the Nursing Board, ${DATASET}.`;
const BAD_ROW = 'This service could not read the row with the number "RN 1"';
const EARLIER = `${BAD_ROW} in the State's dataset of 2026-11-15`;

test.each<[NotFoundReason, Partial<Miss>, string]>([
  ['unknown', {}, NONE],
  ['unknown', { didYouMean: TWO }, `${NONE} ${SIMILAR}`],
  ['unknown', { didYouMean: TWO, ofTheName: ['RN.01'] }, `${NONE} ${SIMILAR} RN.01 is under that name.`],
  ['unknown', { isFeedUnread: true }, `${NONE} ${UNREAD}`],
  ['ambiguous', {}, `${FITS_TWO} Send it as the board writes it.`],
  ['ambiguous', { didYouMean: TWO }, `${FITS_TWO} ${SIMILAR} Send it as the board writes it.`],
  ['ambiguous', { didYouMean: ['RN.1'], boards: BOTH }, `${AT_TWO} Name the board.`],
  // Those of a list may be left out.
  ['ambiguous', { boards: BOTH }, `${AT_TWO} Name the board.`],
  ['other_board', { boards: BOTH }, `${ELSEWHERE} Look it up there.`],
  ['not_a_business', {}, `${OF_PERSON} Leave out search_type to look it up.`],
  ['removed', { left: PROBATION }, `${GONE} ${LAST} ${ASK}`],
  ['removed', { left: { last_in_dataset: null, last_raw_status: null } }, `${GONE} ${ASK}`],
  ['unreadable', {}, `${BAD_ROW} ${DATASET}. ${STATED}`],
  ['unreadable', { unreadableIn: '2026-11-15' }, `${EARLIER}, and no readable row has come since. ${STATED}`],
])('of a number that was not found for the reason %s, %j', (reason, fields, words) => {
  expect(missMessage(number(reason, fields), DATE, 'rest')).toBe(words);
});

const filters = { city: 'Tolede', status: 'ACTIVE' };
const su = { ...PERSON, firstName: 'Su' };
const THERE_ARE = 'There are licenses for the';
const CHECK = 'Check the spelling and the board.';
const NEITHER = 'Check the filters, or leave them out.';
const BY = 'with status "ACTIVE" and city "Tolede"';
test.each<[Partial<Miss>, string]>([
  [{}, `No license of the Nursing Board matches the name "Bowen" ${DATASET}. ${CHECK}`],
  [
    { request: { by: 'person', lastName: 'Bowen', firstName: 'Su', filters } },
    `No license of any of the 24 boards matches the name "Bowen, Su" ${BY} ${DATASET}. ${CHECK}`,
  ],
  [
    { request: { ...su, filters }, nameExists: true, surnameExists: true },
    `${THERE_ARE} name "Bowen, Su" at the Nursing Board ${DATASET}, but none ${BY}. ${NEITHER}`,
  ],
  [
    { request: su, surnameExists: true },
    `${THERE_ARE} surname "Bowen" at the Nursing Board ${DATASET}, but none for the name "Bowen, Su". Check the given name, or leave it out.`,
  ],
  [
    { request: { by: 'business', name: 'Acme', filters: { city: 'Lima' } }, nameExists: true },
    `${THERE_ARE} name "Acme" ${DATASET}, but none with city "Lima". ${NEITHER}`,
  ],
])('the message about a name that was not found %j', (fields, words) => {
  expect(missMessage(name(fields), DATE, 'rest')).toBe(words);
});

test('a page has the quotation marks and apostrophes of print, but for what was typed', () => {
  const day = 'November 20, 2026';
  const filters = { city: `Lee's "Summit"` };
  expect(missMessage(name({ request: { ...PERSON, lastName: "O'Brien", filters } }), day, 'page')).toBe(
    `No license of the Nursing Board matches the name “O'Brien” with city “Lee's "Summit"” in the State’s dataset of November 20, 2026. Check the spelling and the board.`,
  );
  const request = { by: 'number', number: `RN'"1`, businessOnly: true } as const;
  expect(missMessage(number('not_a_business', { request }), day, 'page').trim()).toBe(
    `The number “RN'"1” is a person’s, not a business’s, in the State’s dataset of November 20, 2026.`,
  );
  expect(missMessage(number('removed'), day, 'page')).toContain(
    'is not in the State’s dataset of November 20, 2026.',
  );
  expect(missMessage(number('unreadable', { unreadableIn: '2026-11-15' }), day, 'page')).toMatch(
    /^This service could not read the row with the number “RN 1” in the State’s dataset of 2026-11-15,/,
  );
});
