import { ATTRIBUTES } from './attributes.ts';
import type { AnsweredRecord } from './record.ts';

const OTHER_NAME =
  'The name given is not the holder’s: the number may be mistyped, so do not take this license for that person’s.';

const BOARD_ACTED = 'The board has acted on this license; only the board can tell what it ordered.';

const ACTIVE_BUT_EXPIRED = 'The State lists it as active although its expiry date has passed: tell both.';

const ONE_OF_THE_NAME =
  'This is the only license that fits: compare the whole name, the city and the type before you take it for the one meant.';

/** The only raw status that needs no caution. */
const CLEAR_STATUS = 'Active';

/**
 * What must not be overlooked in a license, a sentence each.
 *
 * @param foundBy what it was looked up by
 */
export function cautions(license: AnsweredRecord, foundBy: 'number' | 'name'): string[] {
  const hasExpired = license.days_until_expiry !== null && license.days_until_expiry < 0;
  const isInForce = license.status === 'ACTIVE';
  return [
    ...(license.name_match === false ? [OTHER_NAME] : []),
    ...(foundBy === 'name' ? [ONE_OF_THE_NAME] : []),
    ...(license.raw_status === null || license.raw_status === CLEAR_STATUS
      ? []
      : [`Tell its whole status: ${license.raw_status}${isInForce ? '' : ', whatever its expiry date'}.`]),
    ...(license.extra_data[ATTRIBUTES.boardAction]?.toUpperCase() === 'YES' ? [BOARD_ACTED] : []),
    ...(isInForce && hasExpired ? [ACTIVE_BUT_EXPIRED] : []),
  ];
}
