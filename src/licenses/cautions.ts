import { isoDate } from './dates.ts';
import {
  ENDORSED_LICENSE_LABELS,
  EXTRA_DATA_LABELS,
  hasBoardAction,
  recordStatus,
  type StandingFields,
} from './status.ts';

/** The license that an endorsement endorses, as far as the endorsement's document says it. */
export interface EndorsedLicense {
  readonly number: string;
  /** `undefined` in publications of version 0.2.0, which stored only the number. */
  readonly standing: StandingFields | undefined;
}

/** Stands for a status that the State leaves blank, so that it differs from one that was never stored. */
const STATUS_NOT_STATED = 'Not stated';

/** What the document of an endorsement says of the license that it endorses, as attributes of its extra data. */
export function endorsedLicenseAttributes(
  endorsed: StandingFields & { readonly license_number: string },
  { status, subStatus }: { readonly status: string; readonly subStatus: string },
): Record<string, string> {
  const { expiry_date: expiry, extra_data: extra } = endorsed;
  const boardAction = extra[EXTRA_DATA_LABELS.boardAction];
  return {
    [EXTRA_DATA_LABELS.endorsedLicense]: endorsed.license_number,
    [ENDORSED_LICENSE_LABELS.status]: status || STATUS_NOT_STATED,
    ...(subStatus === '' ? {} : { [ENDORSED_LICENSE_LABELS.subStatus]: subStatus }),
    ...(expiry === null ? {} : { [ENDORSED_LICENSE_LABELS.expirationDate]: expiry }),
    ...(boardAction === undefined ? {} : { [ENDORSED_LICENSE_LABELS.boardAction]: boardAction }),
  };
}

/** The license that this one endorses; `undefined` when it is no endorsement. */
export function endorsedLicense({
  extra_data: extra,
}: Pick<StandingFields, 'extra_data'>): EndorsedLicense | undefined {
  const number = extra[EXTRA_DATA_LABELS.endorsedLicense];
  if (number === undefined) return undefined;
  const primary = extra[ENDORSED_LICENSE_LABELS.status];
  if (primary === undefined) return { number, standing: undefined };
  return {
    number,
    standing: standingOf(
      primary === STATUS_NOT_STATED ? '' : primary,
      extra[ENDORSED_LICENSE_LABELS.subStatus],
      extra[ENDORSED_LICENSE_LABELS.expirationDate],
      extra[ENDORSED_LICENSE_LABELS.boardAction],
    ),
  };
}

function standingOf(
  primary: string | undefined,
  sub: string | undefined,
  expiry: string | undefined,
  boardAction: string | undefined,
): StandingFields {
  return {
    ...recordStatus(primary ?? '', sub ?? ''),
    expiry_date: expiry ?? null,
    extra_data: boardAction === undefined ? {} : { [EXTRA_DATA_LABELS.boardAction]: boardAction },
  };
}

/** An endorsement with a number of its own, as the row of the license that it endorses says it. */
export interface Endorsement {
  readonly number: string;
  readonly type: string | undefined;
  readonly standing: StandingFields;
}

const ENDORSEMENT_NUMBER = /^Endorsement Number (\d+)$/;

/** The numbered endorsements of a license, in the order of its row. */
export function endorsementsOf({ extra_data: extra }: Pick<StandingFields, 'extra_data'>): Endorsement[] {
  const texts = new Map(Object.entries(extra));
  return [...texts].flatMap(([label, number]) => {
    const [, n] = ENDORSEMENT_NUMBER.exec(label) ?? [];
    if (n === undefined) return [];
    const text = (name: string) => texts.get(`Endorsement ${name} ${n}`);
    const expiry = isoDate(text('Expiration Date') ?? '');
    const standing = standingOf(text('Status'), text('Sub Status'), expiry, text('Board Action'));
    return [{ number, type: text('Type'), standing }];
  });
}

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
  if (hasBoardAction({ extra_data })) cautions.push('board_action');
  return cautions;
}

export const NAME_DOES_NOT_MATCH =
  'The name given is not the holder’s: the number may be mistyped, so do not take this license for that person’s.';

/** What a reader must do with the only match of a name. */
export const ONLY_MATCH_BY_NAME =
  'This is the only license that fits: compare the whole name, the city and the type before you take it for the one meant.';

/** The cautions of a license in words, a sentence each. */
export function cautionSentences(license: StandingFields, cautions: readonly Caution[]): string[] {
  const has = (caution: Caution) => cautions.includes(caution);
  const status = license.raw_status ?? 'the State does not state one';
  return [
    ...(has('name_mismatch') ? [NAME_DOES_NOT_MATCH] : []),
    ...(has('not_active') || has('sub_status')
      ? [`Report the full status: ${status}${has('not_active') ? ', whatever its expiry date' : ''}.`]
      : []),
    ...(has('past_expiry')
      ? ['The State lists it as active although its expiry date has passed: report both.']
      : []),
    ...(has('board_action')
      ? ['The board has acted on this license; only the board can tell what it ordered.']
      : []),
    ...(has('endorsed_license') ? [endorsedSentence(license)] : []),
  ];
}

function endorsedSentence(license: StandingFields): string {
  const { number, standing } = endorsedLicense(license) ?? {};
  if (number === undefined || standing === undefined) return '';
  const parts = [
    `its status is ${standing.raw_status ?? 'not stated'}`,
    ...(standing.expiry_date === null ? [] : [`its expiry date ${standing.expiry_date}`]),
    ...(hasBoardAction(standing) ? ['the board has acted on it'] : []),
  ];
  return `Tell of the license that it endorses, too (${number}): ${parts.join(', ')}.`;
}
