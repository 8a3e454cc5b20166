import { endorsedLicense, type StandingFields } from './endorsements.ts';
import { EXTRA_DATA_LABELS } from './extra-data-labels.ts';

/** What a reader of a license must not miss, in the order in which it is told. */
export const CAUTIONS = [
  'name_mismatch',
  'not_active',
  'sub_status',
  'past_expiry',
  'board_action',
  'endorsed_license',
] as const;

export type Caution = (typeof CAUTIONS)[number];

/** What each caution means, for the documents of the interfaces. */
export const CAUTION_MEANINGS: Readonly<Record<Caution, string>> = {
  name_mismatch: "a name was sent with the number and is not the holder's",
  not_active: 'the primary status is not Active',
  sub_status: 'the raw status has a sub-status, such as Probation or Active In Renewal',
  past_expiry: 'Active, but the expiry date has passed',
  board_action: 'Board Action is Yes',
  endorsed_license:
    'the license that this one endorses is not active, has a sub-status or a board action, or is past its expiry date',
};

/**
 * The cautions of a license, in the order of `CAUTIONS`; none when there is nothing to tell.
 *
 * @param today the date in Ohio, `YYYY-MM-DD`
 * @param nameMatch whether a name sent along with the number is the holder's
 */
export function cautionsOf(license: StandingFields, today: string, nameMatch?: boolean): Caution[] {
  const endorsed = endorsedLicense(license)?.standing;
  return [
    ...(nameMatch === false ? (['name_mismatch'] as const) : []),
    ...ownCautions(license, today),
    ...(endorsed !== undefined && ownCautions(endorsed, today).length > 0
      ? (['endorsed_license'] as const)
      : []),
  ];
}

function ownCautions(
  { status, raw_status: raw, expiry_date: expiry, extra_data }: StandingFields,
  today: string,
) {
  const cautions: Caution[] = [];
  if (status !== 'ACTIVE') cautions.push('not_active');
  if (raw !== null && raw.toUpperCase() !== status) cautions.push('sub_status');
  if (status === 'ACTIVE' && expiry !== null && expiry < today) cautions.push('past_expiry');
  if (extra_data[EXTRA_DATA_LABELS.boardAction]?.toUpperCase() === 'YES') cautions.push('board_action');
  return cautions;
}

export const NAME_DOES_NOT_MATCH =
  'The name given is not the holder’s: the number may be mistyped, so do not take this license for that person’s.';

/** What a reader must do with the only match of a name. */
export const ONLY_MATCH_BY_NAME =
  'This is the only license that fits: compare the whole name, the city and the type before you take it for the one meant.';

const BOARD_ACTION = 'The board has acted on this license; only the board can tell what it ordered.';

const ACTIVE_BUT_EXPIRED = 'The State lists it as active although its expiry date has passed: tell both.';

/** The cautions of a license in words, a sentence each. */
export function cautionSentences(license: StandingFields, cautions: readonly Caution[]): string[] {
  const has = (caution: Caution) => cautions.includes(caution);
  const status = license.raw_status ?? 'the State does not state one';
  return [
    ...(has('name_mismatch') ? [NAME_DOES_NOT_MATCH] : []),
    ...(has('not_active') || has('sub_status')
      ? [`Tell its whole status: ${status}${has('not_active') ? ', whatever its expiry date' : ''}.`]
      : []),
    ...(has('past_expiry') ? [ACTIVE_BUT_EXPIRED] : []),
    ...(has('board_action') ? [BOARD_ACTION] : []),
    ...(has('endorsed_license') ? [endorsedSentence(license)] : []),
  ];
}

function endorsedSentence(license: StandingFields): string {
  const { number, standing } = endorsedLicense(license) ?? {};
  if (number === undefined || standing === undefined) return '';
  const parts = [
    `its status is ${standing.raw_status ?? 'not stated'}`,
    ...(standing.expiry_date === null ? [] : [`its expiry date ${standing.expiry_date}`]),
    ...(standing.extra_data[EXTRA_DATA_LABELS.boardAction]?.toUpperCase() === 'YES'
      ? ['the board has acted on it']
      : []),
  ];
  return `Tell of the license that it endorses, too (${number}): ${parts.join(', ')}.`;
}
