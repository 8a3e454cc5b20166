import type { License } from './licenses.ts';
import { drawNextPlace } from './places.ts';
import { chance, createRandom, type Random } from './random.ts';
import { drawNextStanding } from './statuses.ts';

const MOVED_SHARE = 0.25;

/**
 * What makes a later day's file of an earlier one: a function that changes about the given share of the
 * licenses passed to it and returns the others as they are. Which ones change, and how, depends on the seed
 * and the license's place in the file alone, so that a larger share changes the same licenses and more.
 */
export function changesOf(seed: number, share: number): (license: License) => License {
  // A stream's name decides what it draws, so its spelling stays.
  const decide = createRandom(seed, 'which licences change');
  return (license) => {
    const decision = decide();
    return decision < share
      ? changed(license, createRandom(decision * 2 ** 32, 'how a licence changes'))
      : license;
  };
}

function changed(license: License, random: Random): License {
  if (license.standing.status !== 'Closed' && chance(random, MOVED_SHARE)) {
    return { ...license, holder: { ...license.holder, place: drawNextPlace(random, license.holder.place) } };
  }
  return { ...license, standing: drawNextStanding(random, license.standing) };
}
