import {
  ASK_THE_BOARD,
  boards,
  byName,
  byNumber,
  call,
  changedTo,
  historyOf,
  MEDICAL,
  NOBODY,
  NOT_UNLICENSED,
  NURSING,
  ofBusiness,
  ofRoster,
  one,
  PHARMACY,
  several,
  UNCLEAR,
} from './calls.ts';
import type { Question } from './replay.ts';

/** Questions to assistants, with the tool calls of a careful agent and what the results must contain. */
export const QUESTIONS: readonly Question[] = [
  {
    ask: 'Is nurse Beatrice Holloway licensed in Ohio, and until when?',
    calls: [
      byName(
        NURSING,
        'Holloway',
        one({
          ...{ license_number: 'RN.900418822', full_name: 'HOLLOWAY, BEATRICE ANN', status: 'ACTIVE' },
          ...{ expiry_date: '2027-10-31', board_action: 'No' },
        }),
        { with: { first_name: 'Beatrice' }, says: /the only license that fits/ },
      ),
    ],
  },
  {
    ask: 'Can you verify Ohio license RN.900418822?',
    calls: [
      byNumber(
        'RN.900418822',
        one({ full_name: 'HOLLOWAY, BEATRICE ANN', status: 'ACTIVE', city: 'COLUMBUS' }),
        {
          says: ASK_THE_BOARD,
        },
      ),
    ],
  },
  {
    ask: 'Somebody wrote down "rn 900418822". Whose license is it?',
    calls: [
      byNumber('rn 900418822', one({ license_number: 'RN.900418822', full_name: 'HOLLOWAY, BEATRICE ANN' })),
    ],
  },
  {
    ask: 'Our new hire Angela Holloway gave RN.900418822 as her number. Is that right?',
    calls: [
      byNumber('RN.900418822', one({ full_name: 'HOLLOWAY, BEATRICE ANN', name_match: false }), {
        with: { last_name: 'Holloway', first_name: 'Angela' },
        says: /do not take this license for that person/,
      }),
    ],
  },
  {
    ask: 'Does license RN.900418822 belong to Beatrice Holloway?',
    calls: [
      byNumber('RN.900418822', one({ name_match: true }), {
        with: { last_name: 'Holloway', first_name: 'Beatrice' },
        never: ['do not take this license'],
      }),
    ],
  },
  {
    ask: 'May nurse RN.900418822 work in other states under the compact?',
    calls: [byNumber('RN.900418822', one({ extra_data: { 'Compact Eligibility': 'Multi-State' } }))],
  },
  {
    ask: 'Is Daniel Okonkwo, a nurse from Toledo, still licensed?',
    calls: [
      byName(
        NURSING,
        'Okonkwo',
        one({ raw_status: 'Inactive - Expired', expiry_date: '2019-10-31', city: 'TOLEDO' }),
        { with: { first_name: 'Daniel', city: 'Toledo' } },
      ),
    ],
  },
  {
    ask: 'Has the nursing board disciplined Paul Garrison?',
    calls: [
      byName(NURSING, 'Garrison', one({ raw_status: 'Active - Probation', board_action: 'Yes' }), {
        with: { first_name: 'Paul' },
        says: /The board has acted on this license; only the board can tell/,
      }),
    ],
  },
  {
    ask: 'Is nurse Helen Petrakis suspended?',
    calls: [
      byName(
        NURSING,
        'Petrakis',
        one({ license_number: 'RN.900433210', status: 'INACTIVE', raw_status: 'Inactive - Suspended' }),
        { with: { first_name: 'Helen' } },
      ),
    ],
  },
  {
    ask: 'PN.900120044: is this LPN good to work today?',
    calls: [
      byNumber(
        'PN.900120044',
        one({ full_name: 'TREMBLAY, JOAN', status: 'ACTIVE', expiry_date: '2025-08-31' }),
        {
          says: /lists it as active although its expiry date has passed/,
        },
      ),
    ],
  },
  {
    ask: 'Is nurse Sarah Whitfield licensed?',
    calls: [
      byName(
        NURSING,
        'Whitfield',
        several(
          { license_number: 'PN.900118830', raw_status: 'Inactive - Lapsed', city: 'CANTON' },
          { license_number: 'RN.900402255', raw_status: 'Active', city: 'DAYTON' },
        ),
        { with: { first_name: 'Sarah' }, says: /check which one is meant, and ask/ },
      ),
    ],
  },
  {
    ask: 'Sarah Jane Whitfield, the registered nurse in Dayton: when does her license run out?',
    calls: [
      byName(NURSING, 'Whitfield', one({ license_number: 'RN.900402255', expiry_date: '2027-10-31' }), {
        with: { first_name: 'Sarah Jane', city: 'Dayton' },
        never: ['PN.900118830'],
      }),
    ],
  },
  {
    ask: 'Verify nurse practitioner APRN.CNP.0900144500.',
    calls: [
      byNumber(
        'APRN.CNP.0900144500',
        one({
          full_name: 'FARROW, LINDA',
          license_type: 'APRN - Certified Nurse Practitioner (CNP)',
          status: 'ACTIVE',
          extra_data: { 'Endorsed License': 'RN.900266001' },
        }),
      ),
    ],
  },
  {
    ask: 'The badge says APRN/CNP/0900144500. Is it valid?',
    calls: [
      byNumber('APRN/CNP/0900144500', one({ license_number: 'APRN.CNP.0900144500', status: 'ACTIVE' })),
    ],
  },
  {
    ask: 'Is the nurse practitioner number APRN.CNP.900144500 licensed?',
    calls: [
      byNumber(
        'APRN.CNP.900144500',
        { ...NOBODY, did_you_mean: ['APRN.CNP.0900144500'] },
        { never: ['FARROW'], says: /No license with the number/ },
      ),
    ],
  },
  {
    ask: "Is nurse Kathleen O'Dell licensed?",
    calls: [
      byName(
        NURSING,
        "O'Dell",
        one({ full_name: "O'DELL-MARSH, KATHLEEN", license_number: 'RN.900455777' }),
        {
          with: { first_name: 'Kathleen' },
        },
      ),
    ],
  },
  {
    ask: 'Look up nurse Rosa Delafuente in Toledo.',
    calls: [byName(NURSING, 'Delafuente', one({ full_name: 'DE LA FUENTE, ROSA', city: 'TOLEDO' }))],
  },
  {
    ask: 'Is Mary Ann Vanterpool a registered nurse in Ohio?',
    calls: [
      byName(NURSING, 'Vanterpool', one({ full_name: 'VANTERPOOL, MARYANN', status: 'ACTIVE' }), {
        with: { first_name: 'Mary Ann' },
      }),
    ],
  },
  {
    ask: 'What became of the nursing license of William Abernathy?',
    calls: [
      byName(
        NURSING,
        'Abernathy',
        one({ full_name: 'ABERNATHY JR, WILLIAM T', raw_status: 'Closed - Deceased' }),
      ),
    ],
  },
  {
    ask: 'Is nurse Beatrice Hollaway licensed?',
    calls: [
      byName(
        NURSING,
        'Hollaway',
        { ...NOBODY, did_you_mean: ['HOLLOWAY'] },
        {
          with: { first_name: 'Beatrice' },
          says: NOT_UNLICENSED,
          never: ['RN.900418822'],
        },
      ),
    ],
  },
  {
    ask: 'List all nurses named Baxter.',
    calls: [
      byName(
        NURSING,
        'Baxter',
        { outcome: 'found', count: 100, truncated: true },
        {
          says: /More than 100 licenses match .*; narrow the search by first_name, license_type, status, city, county/,
        },
      ),
    ],
  },
  {
    ask: 'Is the nurse Baxter in Marietta licensed? Her first name I do not know.',
    calls: [
      byName(NURSING, 'Baxter', one({ license_number: 'RN.900720077', city: 'MARIETTA', status: 'ACTIVE' }), {
        with: { city: 'Marietta' },
      }),
    ],
  },
  {
    ask: 'Give me any three nurses called Baxter in Columbus.',
    calls: [
      byName(
        NURSING,
        'Baxter',
        { outcome: 'found', count: 3, truncated: true },
        {
          with: { city: 'Columbus', limit: 3 },
          says: /More than 100 licenses match \(3 listed/,
        },
      ),
    ],
  },
  {
    ask: 'Is Dr. Marcus Vance allowed to practice medicine in Ohio?',
    calls: [
      byName(
        MEDICAL,
        'Vance',
        one({
          ...{ license_number: '35.900088812', status: 'INACTIVE', board_action: 'Yes' },
          raw_status: 'Inactive - Permanent Revocation',
        }),
        { with: { first_name: 'Marcus' }, says: /The board has acted/ },
      ),
    ],
  },
  {
    ask: 'Check number 35.900088812 with the Ohio Nursing Board.',
    calls: [
      byNumber(
        '35.900088812',
        { ...NOBODY },
        {
          with: { board: NURSING },
          says: /not one of the Nursing Board, but one of the Medical Board/,
          never: ['VANCE'],
        },
      ),
      byNumber('35.900088812', one({ full_name: 'VANCE, MARCUS ALAN', board: MEDICAL }), {
        with: { board: MEDICAL },
      }),
    ],
  },
  {
    ask: 'Is Theresa Quill, an osteopath in Cincinnati, licensed?',
    calls: [
      byName(
        MEDICAL,
        'Quill',
        one({
          license_type: 'Doctor of Osteopathic Medicine (DO)',
          status: 'ACTIVE',
          expiry_date: '2027-07-01',
        }),
        { with: { first_name: 'Theresa', city: 'Cincinnati' } },
      ),
    ],
  },
  {
    ask: 'Is my massage therapist, Ingrid Lindqvist, licensed?',
    calls: [
      boards({ says: /"name":"Medical Board".*Massage Therapist \(MT\)/ }),
      byName(MEDICAL, 'Lindqvist', one({ license_type: 'Massage Therapist (MT)', status: 'ACTIVE' }), {
        with: { first_name: 'Ingrid' },
      }),
    ],
  },
  {
    ask: 'Verify pharmacist 03-900123456.',
    calls: [byNumber('03-900123456', one({ license_number: '03900123456', full_name: 'ESTRADA, CARLOS' }))],
  },
  {
    ask: 'Does Nora Brandt, counselor E.901700021, hold the supervision endorsement?',
    calls: [
      byNumber('E.901700021', one({ full_name: 'BRANDT, NORA', name_match: true }), {
        with: { last_name: 'Brandt' },
        never: ['KESSLER', 'SUPV'],
      }),
    ],
  },
  {
    ask: 'Who holds license SP.900004567, a speech therapist?',
    calls: [
      byNumber(
        'SP.900004567',
        { ...UNCLEAR, did_you_mean: [] },
        {
          says: /the Psychology Board and the Speech and Hearing Professionals Board\. Name the board/,
          never: ['HARTE', 'ODUYA'],
        },
      ),
      byNumber(
        'SP.900004567',
        one({ full_name: 'ODUYA, GRACE', license_type: 'Speech-Language Pathologist' }),
        {
          with: { board: 'Speech and Hearing Professionals Board' },
          never: ['HARTE'],
        },
      ),
    ],
  },
  {
    ask: 'Is my dentist Alan Rusk licensed? Ask the Ohio Board of Dentistry.',
    calls: [
      byName(
        'Ohio Board of Dentistry',
        'Rusk',
        {},
        { isError: true, says: /The nearest: \\"Dental Board\\";/ },
      ),
      byName('Dental Board', 'Rusk', one({ license_number: '30.900021111', expiry_date: '2027-12-31' }), {
        with: { first_name: 'Alan' },
      }),
    ],
  },
  {
    ask: 'Is my accountant Victor Sterling a CPA, and is he in good standing?',
    calls: [
      boards({ says: /"name":"Accountancy Board".*Certified Public Accountant/ }),
      byName('Accountancy Board', 'Sterling', one({ license_number: 'CPA.900033210', status: 'ACTIVE' }), {
        with: { first_name: 'Victor' },
      }),
    ],
  },
  {
    ask: 'Is chiropractor dc900004321 licensed?',
    calls: [byNumber('dc900004321', one({ license_number: 'DC-900004321', full_name: 'BELL, OTIS' }))],
  },
  {
    ask: 'Is the lawyer John Marsh licensed in Ohio?',
    calls: [boards({ never: ['Attorney', 'Lawyer', 'Bar '] })],
  },
  {
    ask: 'Which Shear Grace salon in Lima is licensed, the one on Maple or the one on Elm?',
    calls: [
      ofBusiness(
        'Shear Grace',
        several(
          { license_number: 'COSS.900091001', street: '12 MAPLE ST', raw_status: 'Active' },
          { license_number: 'COSS.900091002', street: '480 ELM AVE', raw_status: 'Inactive - Expired' },
        ),
        { with: { city: 'Lima' } },
      ),
    ],
  },
  {
    ask: 'Is the Riverbend Pharmacy in Toledo licensed to hold drugs, and where exactly is it?',
    calls: [
      ofBusiness(
        'Riverbend Pharmacy',
        one({
          ...{ license_number: '02912000014', board: PHARMACY, status: 'ACTIVE' },
          extra_data: { 'Street Address': '700 LAKE ST' },
        }),
        { with: { city: 'Toledo' } },
      ),
    ],
  },
  {
    ask: 'Is Quail Hollow Drugs a licensed pharmacy?',
    calls: [
      ofBusiness(
        'Quail Hollow Drugs',
        one({ full_name: 'MAPLE HEALTH LLC D.B.A QUAIL HOLLOW DRUGS', expiry_date: '2027-03-31' }),
      ),
    ],
  },
  {
    ask: 'Is there a funeral home called Halvorsan in Marietta, and is it licensed?',
    calls: [
      ofBusiness(
        'Halvorsan',
        { ...NOBODY, did_you_mean: ['HALVORSEN FUNERAL HOME INC'] },
        { with: { city: 'Marietta' }, never: ['FH.900088001'] },
      ),
    ],
  },
  {
    ask: 'Can I trust Bud’s Collision Center in Canton with my car?',
    calls: [
      ofBusiness(
        'Bud’s Collision Center',
        one({ license_number: 'MVR.900066001', raw_status: 'Inactive - Suspended' }),
        {
          with: { city: 'Canton' },
        },
      ),
    ],
  },
  {
    ask: 'Is number RN.900418822 a business license?',
    calls: [
      call(
        'verify_business_license',
        { license_number: 'RN.900418822' },
        { ...NOBODY },
        {
          says: /a person's license .*verify_license looks it up/,
          never: ['HOLLOWAY'],
        },
      ),
    ],
  },
  {
    ask:
      'Verify our three nurses for the staff file: Beatrice Holloway RN.900418822, Joan Tremblay PN.900120044 and ' +
      'Paul Garrison RN.900377120.',
    calls: [
      ofRoster(
        [
          { reference: 'Holloway', license_number: 'RN.900418822', last_name: 'Holloway' },
          { reference: 'Tremblay', license_number: 'PN.900120044', last_name: 'Tremblay' },
          { reference: 'Garrison', license_number: 'RN.900377120', last_name: 'Garrison' },
        ],
        { found: 3, ambiguous: 0, not_found: 0, invalid: 0 },
        [
          { outcome: 'found', name_match: true, licenses: [{ status: 'ACTIVE', board_action: 'No' }] },
          {
            outcome: 'found',
            licenses: [{ status: 'ACTIVE', expiry_date: '2025-08-31' }],
          },
          { outcome: 'found', licenses: [{ raw_status: 'Active - Probation', board_action: 'Yes' }] },
        ],
        { says: /active although its expiry date has passed.*The board has acted on this license/ },
      ),
    ],
  },
  {
    ask: 'Check my list: nurse Angela Holloway, RN.900418822; Dr. Marcus Vance; and number APRN.CNP.900144500.',
    calls: [
      ofRoster(
        [
          { license_number: 'RN.900418822', last_name: 'Holloway', first_name: 'Angela' },
          { board: MEDICAL, last_name: 'Vance', first_name: 'Marcus' },
          { license_number: 'APRN.CNP.900144500' },
        ],
        { found: 2, ambiguous: 0, not_found: 1, invalid: 0 },
        [
          { outcome: 'found', name_match: false },
          { outcome: 'found', licenses: [{ raw_status: 'Inactive - Permanent Revocation' }] },
          { outcome: 'not_found', did_you_mean: ['APRN.CNP.0900144500'] },
        ],
        { says: /do not take this license for that person/, never: ['FARROW'] },
      ),
    ],
  },
  {
    ask: 'Are these licensed: the salon Shear Grace, nurse Sarah Whitfield, and somebody called Pat?',
    calls: [
      ofRoster(
        [
          { reference: 'salon', business_name: 'Shear Grace' },
          { reference: 'nurse', board: NURSING, last_name: 'Whitfield', first_name: 'Sarah' },
          { reference: 'Pat', first_name: 'Pat' },
        ],
        { found: 0, ambiguous: 2, not_found: 0, invalid: 1 },
        [
          { outcome: 'ambiguous', licenses: [{ street: '12 MAPLE ST' }, { street: '480 ELM AVE' }] },
          { outcome: 'ambiguous', licenses: [{ city: 'CANTON' }, { city: 'DAYTON' }] },
          { reference: 'Pat', outcome: 'invalid' },
        ],
        { says: /no license_number, no last_name and no business_name/ },
      ),
    ],
  },
  {
    ask: 'Since when is nurse Helen Petrakis, RN.900433210, suspended?',
    calls: [
      historyOf(
        'RN.900433210',
        changedTo({ raw_status: { before: 'Active', after: 'Inactive - Suspended' } }),
        {
          says: /What happened before 2026-11-19 is not known here/,
        },
      ),
    ],
  },
  {
    ask: 'Has Beatrice Holloway, RN.900418822, renewed her license this month?',
    calls: [
      historyOf('RN.900418822', {
        license: { expiry_date: '2027-10-31' },
        ...changedTo({ expiry_date: { before: '2025-10-31', after: '2027-10-31' } }),
      }),
    ],
  },
  {
    ask: 'We verified Renata Marchetti, a Nursing Board licensee, RN.900350077, last week, and today she is not found. Why?',
    calls: [
      byNumber('RN.900350077', NOBODY),
      historyOf(
        'RN.900350077',
        {
          license: null,
          changes: [{ kind: 'removed', fields: { full_name: { before: 'MARCHETTI, RENATA', after: null } } }],
        },
        { with: { board: NURSING }, says: /no longer in the dataset.*That does not say why; ask the board/ },
      ),
    ],
  },
];
