import { type Day, day } from './days.ts';
import type { License } from './licenses.ts';
import type { Place } from './places.ts';
import type { Standing } from './statuses.ts';

type Example = Omit<License, 'planned'> & { readonly licenseType: string };

/** An expiration date far in the future, so that the examples do not become outdated. */
const EXPIRES = day(2035, 10, 31);

function active(issued: Day): Standing {
  const effective = day(2025, 11, 1);
  return { status: 'Active', subStatus: '', boardAction: false, issued, effective, expires: EXPIRES };
}

function inOhio(city: string, county: string, zip: string): Place {
  return { city, state: 'OH', county, zip, country: 'United States' };
}

const COLUMBUS = inOhio('Columbus', 'Franklin', '43215');
const CLEVELAND = inOhio('Cleveland', 'Cuyahoga', '44114');
const DAYTON = inOhio('Dayton', 'Montgomery', '45402');

/** An active license, with these values replacing fields. */
function example(
  licenseType: string,
  number: string,
  name: string,
  place: Place,
  values: Partial<Example> = {},
): Example {
  return {
    licenseType,
    number,
    holder: { name, street: '', place },
    standing: active(day(2020, 1, 15)),
    subCategory: '',
    compactEligibility: '',
    endorsements: [],
    specialties: [],
    certifications: [],
    ...values,
  };
}

function business(licenseType: string, number: string, name: string, street: string, place: Place): Example {
  return example(licenseType, number, name, place, { holder: { name, street, place } });
}

const NURSE_PRACTITIONER = {
  ...active(day(2022, 3, 1)),
  type: 'APRN - Certified Nurse Practitioner (CNP)',
  number: 'APRN.CNP.912345678',
};

/**
 * The licenses that documents, the OpenAPI document, the website and tests use as examples. Sample data of every size,
 * seed and day contains exactly these licenses. Their numbers have nine digits after the prefix, one more than any
 * board writes, so no real license has them. The digits are not all zeros: such numbers would all have the same digits,
 * so that a mistyped zero would suggest the numbers of several boards.
 */
export const EXAMPLES: readonly Example[] = [
  example('Registered Nurse (RN)', 'RN.987654321', 'EXAMPLE, PAT SAMPLE', COLUMBUS, {
    compactEligibility: 'Multi-State',
  }),
  example('Licensed Practical Nurse (LPN)', 'PN.987654321', 'EXAMPLE, ROBIN', DAYTON),
  example('Registered Nurse (RN)', 'RN.912345678', 'SPECIMEN, ALEX', CLEVELAND, {
    endorsements: [NURSE_PRACTITIONER],
  }),
  example('Doctor of Medicine (MD)', '35.987654321', 'EXAMPLE, JAMIE', CLEVELAND),
  example('Training Certificate', '57.987654321', 'EXAMPLE, JAMIE', CLEVELAND, {
    standing: {
      ...active(day(2012, 7, 1)),
      ...{ status: 'Inactive', subStatus: 'Lapsed', effective: day(2014, 7, 1), expires: day(2015, 6, 30) },
    },
  }),
  example('Licensed Social Worker (LSW)', 'S.987654321', 'EXAMPLE, LEE', DAYTON),
  business(
    'Terminal Distributor of Dangerous Drugs',
    '02987654321',
    'EXAMPLE PHARMACY INC',
    '1 Example St',
    DAYTON,
  ),
  business('Beauty Salon', 'COSS.987654321', 'EXAMPLE HAIR DESIGN', '2 Example St', CLEVELAND),
  business('Beauty Salon', 'COSS.912345678', 'EXAMPLE HAIR DESIGN', '3 Example St', DAYTON),
];

/**
 * Replaces drawn licenses by the examples: each example replaces the first drawn license of its type that has no
 * endorsement.
 *
 * @returns a function that gives the example for a drawn license, or `undefined` if the license stays
 */
export function examplesInPlace(): (drawn: License) => License | undefined {
  const waiting = [...EXAMPLES];
  return ({ planned, endorsements }) => {
    const at = waiting.findIndex(({ licenseType }) => licenseType === planned.type.name);
    if (at < 0 || endorsements.length > 0) return undefined;
    const [taken] = waiting.splice(at, 1);
    return taken && { ...taken, planned };
  };
}
