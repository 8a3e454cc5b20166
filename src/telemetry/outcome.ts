import type { LookupOutcome } from '../licenses/lookup.ts';

/** How a request ended, as the operator counts it. */
export const OUTCOMES = [
  'found',
  'several',
  'none',
  'answered',
  'refused',
  'unauthorized',
  'limited',
  'unavailable',
  'failed',
] as const;

export type Outcome = (typeof OUTCOMES)[number];

/** How a lookup ended: with one license, several or none. */
export function lookupOutcome({ outcome }: Pick<LookupOutcome, 'outcome'>): Outcome {
  return outcome === 'found' || outcome === 'several' ? outcome : 'none';
}

/** How a request with this status code ended. */
export function statusOutcome(status: number): Outcome {
  if (status < 400) return 'answered';
  if (status === 401) return 'unauthorized';
  if (status === 429) return 'limited';
  if (status < 500) return 'refused';
  return status === 503 ? 'unavailable' : 'failed';
}
