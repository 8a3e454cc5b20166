import type { LookupOutcome } from './lookup-outcome.ts';

/**
 * Explains why a lookup by number has no record, in words that never call anybody unlicensed.
 *
 * @param personHint how to look the number up as a person's, for a lookup that was restricted to businesses
 */
export function numberNotFoundMessage(
  { reason, boards = [], didYouMean }: Extract<LookupOutcome, { outcome: 'number_not_found' }>,
  publicationDate: string,
  personHint: string,
): string {
  const where = `in the State's dataset of ${publicationDate}`;
  const nearest = didYouMean.length === 0 ? '' : ` Similar numbers that exist: ${didYouMean.join(', ')}.`;
  switch (reason) {
    case 'unknown':
      return `No license with this number is ${where}.${nearest}`;
    case 'ambiguous':
      if (didYouMean.length === 1) {
        return `More than one board has a license with this number ${where}: the ${boards.join(' and the ')}. Name the board.`;
      }
      return `This way of writing the number fits more than one license ${where}.${nearest} Send it as the board writes it.`;
    case 'other_board':
      return `This number is not one of the board asked, but one of the ${boards.join(' and the ')} ${where}. Ask again with that board.`;
    case 'not_a_business':
      return `This number is a person's license ${where}, not a business's. ${personHint}`;
  }
}
