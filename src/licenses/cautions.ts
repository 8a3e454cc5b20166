import { EXTRA_DATA_LABELS } from './extra-data-labels.ts';
import type { ResponseRecord } from './license-record.ts';

export const NAME_DOES_NOT_MATCH =
  'The name given is not the holder’s: the number may be mistyped, so do not take this license for that person’s.';

const BOARD_ACTION = 'The board has acted on this license; only the board can tell what it ordered.';

const ACTIVE_BUT_EXPIRED = 'The State lists it as active although its expiry date has passed: tell both.';

const ONLY_MATCH_BY_NAME =
  'This is the only license that fits: compare the whole name, the city and the type before you take it for the one meant.';

/** The only raw status that needs no caution. */
const STATUS_WITHOUT_CAUTION = 'Active';

/** Warnings about a license that a reader must not overlook, a sentence each. */
export function cautions(license: ResponseRecord, foundBy: 'number' | 'name'): string[] {
  const hasExpired = license.days_until_expiry !== null && license.days_until_expiry < 0;
  const isInForce = license.status === 'ACTIVE';
  return [
    ...(license.name_match === false ? [NAME_DOES_NOT_MATCH] : []),
    ...(foundBy === 'name' ? [ONLY_MATCH_BY_NAME] : []),
    ...(license.raw_status === null || license.raw_status === STATUS_WITHOUT_CAUTION
      ? []
      : [`Tell its whole status: ${license.raw_status}${isInForce ? '' : ', whatever its expiry date'}.`]),
    ...(license.extra_data[EXTRA_DATA_LABELS.boardAction]?.toUpperCase() === 'YES' ? [BOARD_ACTION] : []),
    ...(isInForce && hasExpired ? [ACTIVE_BUT_EXPIRED] : []),
  ];
}
