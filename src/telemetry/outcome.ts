import type { LookupOutcome } from '../licenses/lookup-outcome.ts';

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

const LOOKUP_OUTCOMES = {
  record: 'found',
  matches: 'several',
  no_match: 'none',
  number_not_found: 'none',
} as const satisfies Readonly<Record<LookupOutcome['outcome'], Outcome>>;

/** How a lookup ended: with one license, several or none. */
export function lookupOutcome({ outcome }: Pick<LookupOutcome, 'outcome'>): Outcome {
  return LOOKUP_OUTCOMES[outcome];
}

/** How a request with this status code ended. */
export function statusOutcome(status: number): Outcome {
  if (status < 400) return 'answered';
  if (status === 401) return 'unauthorized';
  if (status === 429) return 'limited';
  if (status < 500) return 'refused';
  return status === 503 ? 'unavailable' : 'failed';
}
