import type { License } from './licenses.ts';
import type { People } from './people.ts';
import { drawNextPlace } from './places.ts';
import { chance, createRandom, type Random } from './random.ts';
import { drawNextStanding } from './statuses.ts';

/** How much a later day differs: shares of the licenses, from 0 to 1. */
export interface DayShares {
  /** The share whose status, dates or place change. */
  readonly changed?: number | undefined;
  /** The share that are followed by a new license. */
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
  /** The share of people whose surname changes, as after a marriage. */
  readonly renamed?: number | undefined;
  /** The share whose license number changes. */
  readonly renumbered?: number | undefined;
}

const MOVED_SHARE = 0.25;

/**
 * Returns a function that gives the licenses of the later day for each license of the earlier day. Which licenses
 * differ, and how, depends only on the seed and the license's position in the file. A larger share therefore changes
 * the same licenses and more.
 */
export function laterDay(seed: number, shares: DayShares, people: People): (license: License) => License[] {
  // The random sequence depends on its name, so these names must not be changed.
  const isRemoved = decision(seed, shares.removed, 'which licenses are removed');
  const isRenamed = decision(seed, shares.renamed, 'which licenses are renamed');
  const isRenumbered = decision(seed, shares.renumbered, 'which licenses are renumbered');
  const isChanged = decision(seed, shares.changed, 'which licences change');
  const isFollowed = decision(seed, shares.added, 'after which licenses others are added');
  return (license) => {
    const [removed, renamed, renumbered, changes, follower] = [
      isRemoved(),
      isRenamed(),
      isRenumbered(),
      isChanged(),
      isFollowed(),
    ];
    let later = license;
    if (changes !== undefined) later = changed(later, createRandom(changes, 'how a licence changes'));
    if (renamed !== undefined)
      later = withSurname(later, createRandom(renamed, 'how a holder is renamed'), people);
    if (renumbered !== undefined) later = { ...later, number: numberOutsideRuns('8', license.number) };
    const kept = removed === undefined ? [later] : [];
    return follower === undefined
      ? kept
      : [...kept, newLicense(license, createRandom(follower, 'who holds a new license'), people)];
  };
}

/** Decides for each license in turn. @returns a seed for the details of the change, or `undefined` for no change */
function decision(seed: number, share = 0, purpose: string): () => number | undefined {
  const random = createRandom(seed, purpose);
  return () => {
    const drawn = random();
    return drawn < share ? drawn * 2 ** 32 : undefined;
  };
}

function changed(license: License, random: Random): License {
  if (license.standing.status !== 'Closed' && chance(random, MOVED_SHARE)) {
    return { ...license, holder: { ...license.holder, place: drawNextPlace(random, license.holder.place) } };
  }
  return { ...license, standing: drawNextStanding(random, license.standing) };
}

function withSurname(license: License, random: Random, people: People): License {
  const { holder, planned } = license;
  if (planned.type.kind === 'business') return license;
  const [, given = ''] = holder.name.split(/ ?,/);
  return { ...license, holder: { ...holder, name: `${people.drawSurname(random)},${given}` } };
}

function newLicense(license: License, random: Random, people: People): License {
  const { holder, planned, number } = license;
  const name = planned.type.kind === 'business' ? holder.name : people.drawName(random);
  return {
    ...license,
    holder: { ...holder, name },
    number: numberOutsideRuns('9', number),
    endorsements: [],
  };
}

/** More digits than any number in a run. */
const OUTSIDE_DIGITS = 9;

/** A number outside all runs. Different numbers give different results. */
function numberOutsideRuns(first: string, number: string): string {
  return number.replace(/\d+/, (digits) => first + digits.padStart(OUTSIDE_DIGITS - 1, '0'));
}
