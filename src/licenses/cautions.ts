import { daysBetween, isoDate } from './dates.ts';
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

/** An endorsement, as the row of the license that it endorses says it. */
export interface Endorsement {
  /** Those with a number of their own are licenses of their own, too. */
  readonly number: string | undefined;
  readonly type: string | undefined;
  readonly standing: StandingFields;
}

const OF_ENDORSEMENT = /^Endorsement (?:Number|Type|Status|Sub Status|Board Action) (\d+)$/;

/** The endorsements of a license, in the order of its row. */
export function endorsementsOf({ extra_data: extra }: Pick<StandingFields, 'extra_data'>): Endorsement[] {
  const labels = Object.keys(extra).filter((label) => label.startsWith('Endorsement '));
  if (labels.length === 0) return [];
  const places = new Set(labels.flatMap((label) => OF_ENDORSEMENT.exec(label)?.[1] ?? []));
  return [...places].map((place) => {
    const text = (name: string) => extra[`Endorsement ${name} ${place}`];
    const expiry = isoDate(text('Expiration Date') ?? '');
    const standing = standingOf(text('Status'), text('Sub Status'), expiry, text('Board Action'));
    return { number: text('Number'), type: text('Type'), standing };
  });
}

/** What a reader of a license must not miss, in the order in which it is told. */
export const CAUTIONS = [
  'name_mismatch',
  'not_active',
  'sub_status',
  'past_expiry',
  'no_expiry_date',
  'board_action',
  'dates_conflict',
  'endorsed_license',
] as const;

export type Caution = (typeof CAUTIONS)[number];

/** What else a reader should know. A license with notes alone is clear. */
export const NOTES = ['expires_soon', 'endorsement'] as const;

export type Note = (typeof NOTES)[number];

/** @param today the date in Ohio, `YYYY-MM-DD` */
type Condition = (license: StandingFields, today: string, nameMatch: boolean | undefined) => boolean;

const CAUTION_CONDITIONS: Readonly<Record<Caution, Condition>> = {
  name_mismatch: (_license, _today, nameMatch) => nameMatch === false,
  not_active: ({ status }) => status !== 'ACTIVE',
  sub_status: ({ status, raw_status: raw }) => raw !== null && raw.toUpperCase() !== status,
  past_expiry: ({ status, expiry_date: expiry }, today) =>
    status === 'ACTIVE' && expiry !== null && expiry < today,
  no_expiry_date: ({ status, expiry_date: expiry }) => status === 'ACTIVE' && expiry === null,
  board_action: hasBoardAction,
  dates_conflict: ({ issue_date: issued, expiry_date: expiry }) =>
    issued != null && expiry !== null && issued > expiry,
  endorsed_license: (license, today) => {
    const standing = endorsedLicense(license)?.standing;
    return standing !== undefined && cautionsOf(standing, today).length > 0;
  },
};

const SOON_DAYS = 30;

const NOTE_CONDITIONS: Readonly<Record<Note, Condition>> = {
  expires_soon: ({ status, expiry_date: expiry }, today) =>
    status === 'ACTIVE' && expiry !== null && expiry >= today && daysBetween(today, expiry) <= SOON_DAYS,
  endorsement: (license) => endorsementsToTell(license).length > 0,
};

/** The endorsements of a license that are not active, or on which the board has acted. */
export function endorsementsToTell(license: Pick<StandingFields, 'extra_data'>): Endorsement[] {
  return endorsementsOf(license).filter(
    ({ standing }) => standing.status !== 'ACTIVE' || hasBoardAction(standing),
  );
}

/**
 * The cautions of a license, in the order of `CAUTIONS`; none when there is nothing to tell.
 *
 * @param today the date in Ohio, `YYYY-MM-DD`
 * @param nameMatch whether a name sent along with the number is the holder's
 */
export function cautionsOf(license: StandingFields, today: string, nameMatch?: boolean): Caution[] {
  return CAUTIONS.filter((caution) => CAUTION_CONDITIONS[caution](license, today, nameMatch));
}

/** The notes of a license, in the order of `NOTES`. @param today the date in Ohio, `YYYY-MM-DD` */
export function notesOf(license: StandingFields, today: string): Note[] {
  return NOTES.filter((note) => NOTE_CONDITIONS[note](license, today, undefined));
}
