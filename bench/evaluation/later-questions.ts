import { boards, byName, byNumber, MEDICAL, NOBODY, NURSING, ofBusiness, one } from './calls.ts';
import type { Question } from './replay.ts';

/** Questions that were written after the last change of the tools' wording, so it is not made for them. */
export const LATER_QUESTIONS: readonly Question[] = [
  {
    ask: 'Is Bill Abernathy still a nurse?',
    calls: [
      byName(
        NURSING,
        'Abernathy',
        { ...NOBODY, did_you_mean: ['ABERNATHY, WILLIAM'] },
        { with: { first_name: 'Bill' }, says: /licenses of the surname/ },
      ),
      byName(NURSING, 'Abernathy', one({ license_number: 'RN.900300450', raw_status: 'Closed - Deceased' }), {
        with: { first_name: 'William' },
      }),
    ],
  },
  {
    ask: 'A badge shows RN.900418282. Which nurse is that?',
    calls: [byNumber('RN.900418282', { ...NOBODY, did_you_mean: ['RN.900418822'] }, { never: ['HOLLOWAY'] })],
  },
  {
    ask: 'Nurse Beatrice Holloway gave us RN.900419822 as her number. Is that hers?',
    calls: [
      byNumber(
        'RN.900419822',
        { ...NOBODY, did_you_mean: ['RN.900418822'] },
        { with: { last_name: 'Holloway', first_name: 'Beatrice' } },
      ),
    ],
  },
  {
    ask: 'Our physical therapist Tom Iversen says that his license is good through 2028. Is it?',
    calls: [
      boards({}),
      byName(
        'Occupational Therapy, Physical Therapy, and Athletic Trainers Board',
        'Iversen',
        one({ license_number: 'PT.900017777', status: 'ACTIVE', expiry_date: '2027-12-31' }),
        { with: { first_name: 'Tom' } },
      ),
    ],
  },
  {
    ask: 'May Hank Grable call auctions in Ohio?',
    calls: [
      boards({}),
      byName('Department of Agriculture', 'Grable', one({ license_type: 'Auctioneer', status: 'ACTIVE' }), {
        with: { first_name: 'Hank' },
      }),
    ],
  },
  {
    ask: 'Can Diane Rowe, the engineer from Toledo, still seal drawings?',
    calls: [
      boards({}),
      byName(
        'Engineers and Surveyors Board',
        'Rowe',
        one({ license_number: 'PE.900077001', status: 'ACTIVE' }),
        {
          with: { first_name: 'Diane', city: 'Toledo' },
        },
      ),
    ],
  },
  {
    ask: 'Is Kenji Nakamura an osteopath or an M.D.?',
    calls: [
      byName(MEDICAL, 'Nakamura', one({ license_type: 'Doctor of Medicine (MD)' }), {
        with: { first_name: 'Kenji' },
      }),
    ],
  },
  {
    ask: 'We want to hire Lan Pham in Columbus for manicures. Is anything wrong with that license?',
    calls: [
      byName(
        'Cosmetology and Barber Board',
        'Pham',
        one({ license_number: 'MAN.900090210', status: 'ACTIVE', board_action: 'No' }),
        { with: { first_name: 'Lan', city: 'Columbus' } },
      ),
    ],
  },
  {
    ask: 'Amos Kessler, a counselor, signed with number E.901700021. Is that his license?',
    calls: [
      byNumber('E.901700021', one({ full_name: 'BRANDT, NORA', name_match: false }), {
        with: { last_name: 'Kessler', first_name: 'Amos' },
        says: /do not take this license for that person/,
      }),
      byName(
        'Counselor, Social Worker and Marriage and Family Therapist Board',
        'Kessler',
        one({ license_number: 'E.901700021-SUPV', status: 'ACTIVE' }),
        { with: { first_name: 'Amos' } },
      ),
    ],
  },
  {
    ask: 'Is Trident Engineering Group a licensed firm, and where is its office?',
    calls: [
      ofBusiness(
        'Trident Engineering Group',
        one({ license_number: 'COA.900004400', street: '1000 TOWER PL' }),
      ),
    ],
  },
];
