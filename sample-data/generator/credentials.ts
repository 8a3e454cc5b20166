import { z } from 'zod';
import credentialsJson from '../data/credentials.json' with { type: 'json' };
import { chance, pick, type Random, weighted, weightedText } from './random.ts';
import { drawStanding, type Standing } from './statuses.ts';

const words = z.array(z.string().min(1)).min(1);
const share = z.number().min(0).max(1);

const CREDENTIALS = z
  .strictObject({
    /** Keyed by license type. */
    sub_categories: z.record(z.string(), z.strictObject({ share, values: words })),
    compact: z.strictObject({ types: words, multi_state: share, single_state: share }),
    endorsements_without_number: z.array(
      z.strictObject({
        type: z.string().min(1),
        endorses: z.string().min(1),
        only_with_a_numbered_one: z.boolean(),
        share,
      }),
    ),
    /** The share of the rows with a numbered endorsement that get a second one. */
    second_endorsement_share: share,
    /** Keyed by endorsement type. */
    certifications: z.record(
      z.string(),
      z.strictObject({ organizations: words, specialties: words, foci: z.array(z.string()).min(1) }),
    ),
    /** License type → the kind of board that certifies its specialties. */
    medical: z.record(z.string(), z.string().min(1)),
    /** How many specialties a doctor has → how many doctors. */
    medical_counts: z.record(z.string().regex(/^\d+$/), z.number().positive()),
    medical_other_board_share: share,
    other_boards: words,
    /** Specialty → its sub-specialties. */
    medical_specialties: z.record(z.string(), z.array(z.string().min(1))),
    other_specialties: words,
    other_sub_specialties: words,
  })
  .parse(credentialsJson);

export const SECOND_ENDORSEMENT_SHARE = CREDENTIALS.second_endorsement_share;

/** The values of one group of ENDORSEMENT columns. */
export interface Endorsement extends Standing {
  /** Blank if the board assigns no number. */
  readonly number: string;
  readonly type: string;
}

/** The values of one group of MED columns. */
export interface MedicalSpecialty {
  readonly board: string;
  readonly otherBoard: string;
  readonly specialty: string;
  readonly otherSpecialty: string;
  readonly subSpecialty: string;
  readonly otherSubSpecialty: string;
}

/** The values of one group of NATIONAL_CERTIFICATION columns. */
export interface NationalCertification {
  readonly organization: string;
  readonly expires: Standing['expires'];
  readonly specialty: string;
  readonly focus: string;
}

/** SUB_CATEGORY: blank for most license types. */
export function drawSubCategory(random: Random, licenseType: string): string {
  const known = CREDENTIALS.sub_categories[licenseType];
  return known && chance(random, known.share) ? pick(random, known.values) : '';
}

/** COMPACT_ELIGIBILITY: only nurses have it. */
export function drawCompactEligibility(random: Random, licenseType: string): string {
  const { types, multi_state, single_state } = CREDENTIALS.compact;
  if (!types.includes(licenseType)) return '';
  const drawn = random();
  if (drawn < multi_state) return 'Multi-State';
  return drawn < multi_state + single_state ? 'Single-State' : '';
}

/** Draws an endorsement. Mostly it has the same status as the license it endorses. */
export function drawEndorsement(
  random: Random,
  type: string,
  number: string,
  license: Standing,
): Endorsement {
  const standing = chance(random, 0.85) ? license : drawStanding(random);
  return { ...standing, type, number };
}

/** Draws endorsements without a number of their own. */
export function drawEndorsementsWithoutNumber(
  random: Random,
  licenseType: string,
  license: Standing,
  hasNumberedOne: boolean,
): Endorsement[] {
  return CREDENTIALS.endorsements_without_number
    .filter(({ endorses, only_with_a_numbered_one }) => {
      return endorses === licenseType && (hasNumberedOne || !only_with_a_numbered_one);
    })
    .filter((entry) => chance(random, entry.share))
    .map((entry) => drawEndorsement(random, entry.type, '', license));
}

/** The certifications of advanced-practice nurses, one for each endorsement that has any. */
export function drawCertifications(
  random: Random,
  endorsements: readonly Endorsement[],
): NationalCertification[] {
  return endorsements.flatMap((endorsement) => {
    const known = CREDENTIALS.certifications[endorsement.type];
    if (known === undefined || !chance(random, 0.9)) return [];
    return [
      {
        organization: pick(random, known.organizations),
        expires: endorsement.expires,
        specialty: pick(random, known.specialties),
        focus: pick(random, known.foci),
      },
    ];
  });
}

const drawSpecialtyCount = weightedText(CREDENTIALS.medical_counts);
const specialtyNames = Object.keys(CREDENTIALS.medical_specialties);
/** The first specialties in the list are the most common. */
const drawSpecialty = weighted(specialtyNames.map((name, index) => [name, 1 / (index + 2)] as const));

/** The specialties of doctors of medicine, osteopathy and podiatry. */
export function drawMedicalSpecialties(random: Random, licenseType: string): MedicalSpecialty[] {
  const board = CREDENTIALS.medical[licenseType];
  if (board === undefined) return [];
  const specialties = Array.from({ length: Number(drawSpecialtyCount(random)) }, () => drawSpecialty(random));
  return [...new Set(specialties)].map((specialty) => {
    const isOtherBoard = chance(random, CREDENTIALS.medical_other_board_share);
    const subSpecialties = CREDENTIALS.medical_specialties[specialty] ?? [];
    const drawn = random();
    return {
      board: isOtherBoard ? 'Other' : board,
      otherBoard: isOtherBoard ? pick(random, CREDENTIALS.other_boards) : '',
      specialty,
      otherSpecialty: specialty === 'Other' ? pick(random, CREDENTIALS.other_specialties) : '',
      subSpecialty: drawn < 0.2 && subSpecialties.length > 0 ? pick(random, subSpecialties) : '',
      otherSubSpecialty: drawn > 0.99 ? pick(random, CREDENTIALS.other_sub_specialties) : '',
    };
  });
}
