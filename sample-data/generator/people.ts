import { z } from 'zod';
import firstNamesJson from '../data/first-names.json' with { type: 'json' };
import surnamesJson from '../data/surnames.json' with { type: 'json' };
import writtenNamesJson from '../data/written-names.json' with { type: 'json' };
import { chance, type Draw, pick, type Random, weighted, weightedText } from './random.ts';

const words = z.array(z.string().min(1)).min(1);
const share = z.number().min(0).max(1);
/** Names with the same frequency, separated by blanks. */
const frequencies = z.array(z.strictObject({ per_100000: z.number().positive(), names: z.string() })).min(1);

const SURNAMES = frequencies.parse(surnamesJson);
const FIRST_NAMES = z.strictObject({ female: frequencies, male: frequencies }).parse(firstNamesJson);
const WRITTEN = z
  .strictObject({
    compound: z.strictObject({ share, surnames: words }),
    accented: z.strictObject({ share, surnames: words }),
    accented_first: z.strictObject({ share, first_names: words }),
    hyphenated_share: share,
    hyphenated_first_share: share,
    two_surnames_share: share,
    single: z.strictObject({ share, names: words }),
    generational: z.strictObject({ share, suffixes: z.record(z.string(), z.number().positive()) }),
    blank_before_comma_share: share,
    female_share: share,
    middle: z.strictObject({ initial: share, initial_with_dot: share, full: share }),
  })
  .parse(writtenNamesJson);

const drawSuffix = weightedText(WRITTEN.generational.suffixes);

/** Draws invented names, with the frequencies of the 1990 US Census. */
export interface People {
  /** A LICENSEE_NAME: `LAST SUFFIX, FIRST MIDDLE`, in each of the forms that occur in the State's files. */
  readonly drawName: Draw<string>;
  readonly drawSurname: Draw<string>;
  readonly drawFirstName: Draw<string>;
}

/** Builds the tables of 88,799 surnames and 5,494 first names. */
export function loadPeople(): People {
  const drawCensusSurname = byFrequency(SURNAMES);
  const drawFemale = byFrequency(FIRST_NAMES.female);
  const drawMale = byFrequency(FIRST_NAMES.male);

  const drawSurname = (random: Random): string => {
    if (chance(random, WRITTEN.compound.share)) return pick(random, WRITTEN.compound.surnames);
    if (chance(random, WRITTEN.accented.share)) return pick(random, WRITTEN.accented.surnames);
    return drawCensusSurname(random);
  };
  const drawLastName = (random: Random): string => {
    const surname = drawSurname(random);
    if (chance(random, WRITTEN.hyphenated_share)) return `${surname}-${drawSurname(random)}`;
    if (chance(random, WRITTEN.two_surnames_share)) return `${surname} ${drawSurname(random)}`;
    return surname;
  };
  const drawGivenName = (random: Random, drawPlain: Draw<string>): string => {
    if (chance(random, WRITTEN.accented_first.share)) return pick(random, WRITTEN.accented_first.first_names);
    const name = drawPlain(random);
    return chance(random, WRITTEN.hyphenated_first_share) ? `${name}-${drawPlain(random)}` : name;
  };

  return {
    drawName: (random) => {
      if (chance(random, WRITTEN.single.share)) return pick(random, WRITTEN.single.names);
      const isFemale = chance(random, WRITTEN.female_share);
      const drawPlain = isFemale ? drawFemale : drawMale;
      const hasSuffix = !isFemale && chance(random, WRITTEN.generational.share);
      const suffix = hasSuffix ? ` ${drawSuffix(random)}` : '';
      const comma = chance(random, WRITTEN.blank_before_comma_share) ? ' ,' : ',';
      const middle = drawMiddle(random, drawPlain);
      return `${drawLastName(random)}${suffix}${comma} ${drawGivenName(random, drawPlain)}${middle}`;
    },
    drawSurname,
    drawFirstName: (random) => (chance(random, WRITTEN.female_share) ? drawFemale : drawMale)(random),
  };
}

function byFrequency(groups: z.output<typeof frequencies>): Draw<string> {
  return weighted(
    groups.flatMap(({ per_100000, names }) => names.split(' ').map((name) => [name, per_100000] as const)),
  );
}

function drawMiddle(random: Random, drawPlain: Draw<string>): string {
  const { initial, initial_with_dot, full } = WRITTEN.middle;
  const drawn = random();
  if (drawn < initial) return ` ${drawPlain(random).charAt(0)}`;
  if (drawn < initial + initial_with_dot) return ` ${drawPlain(random).charAt(0)}.`;
  return drawn < initial + initial_with_dot + full ? ` ${drawPlain(random)}` : '';
}
