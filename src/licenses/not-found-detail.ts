import type { LookupOutcome } from './lookup-outcome.ts';
import { numberNotFoundMessage } from './number-not-found-message.ts';

const PERSON_HINT = 'Leave out search_type to look it up.';
const ASK_THE_BOARD = 'The issuing board is the authority; ask it before you conclude anything.';

/** A lookup's outcome without a license. */
export type NotFound = Extract<LookupOutcome, { outcome: 'no_match' | 'number_not_found' }>;

/**
 * Says what was searched without finding a license, in which dataset, and who is the authority. It never says
 * "unlicensed".
 *
 * @param publicationDate the run date of the dataset that answered, `YYYY-MM-DD`
 */
export function notFoundDetail(outcome: NotFound, publicationDate: string): string {
  if (outcome.outcome === 'no_match') return noMatchDetail(outcome, publicationDate);
  const detail = numberNotFoundMessage(outcome, publicationDate, PERSON_HINT);
  return outcome.reason === 'unknown' ? `${detail} ${ASK_THE_BOARD}` : detail;
}

function noMatchDetail(
  { surnameExists }: Extract<NotFound, { outcome: 'no_match' }>,
  publicationDate: string,
): string {
  const where = `in the State's dataset of ${publicationDate}`;
  return surnameExists === true
    ? `The board asked has licenses of this surname ${where}, but none of them matches the given name and the filters. ` +
        'Check them, or leave them out; the issuing board is the authority.'
    : `No license of the board asked matches this name and the filters ${where}. ` +
        'Check the spelling and the board; the issuing board is the authority.';
}
