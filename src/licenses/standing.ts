import STATUSES from '../../data/statuses.json' with { type: 'json' };
import { daysBefore, isoDate } from './dates.ts';
import { fold, memoize } from './fold.ts';

/** The standing of a license: the fields that its cautions depend on. */
export interface StandingFields {
  /** The primary status in upper case. */
  readonly status: string | null;
  readonly raw_status: string | null;
  /** `YYYY-MM-DD` */
  readonly expiry_date: string | null;
  /** `YYYY-MM-DD`; absent for an endorsed license, because its endorsement does not store it. */
  readonly issue_date?: string | null | undefined;
  readonly extra_data: Readonly<Record<string, string>>;
}

/** Keys of `extra_data` that the service itself reads or writes. */
export const EXTRA_DATA_LABELS = {
  boardAction: 'Board Action',
  street: 'Street Address',
  /** On an endorsement: the number of the license that it endorses. */
  endorsedLicense: 'Endorsed License',
} as const;

/** Keys of an endorsement's `extra_data` for the standing of the license that it endorses. */
export const ENDORSED_LICENSE_LABELS = {
  status: 'Endorsed License Status',
  subStatus: 'Endorsed License Sub Status',
  expirationDate: 'Endorsed License Expiration Date',
  boardAction: 'Endorsed License Board Action',
} as const;

/** The primary statuses that licenses have, as the State writes them. */
export const PRIMARY_STATUSES: readonly string[] = STATUSES.primary;

/** Whether a text is blank or one of these labels, in any case. */
function isOneOf(names: readonly string[]): (text: string) => boolean {
  const keys = new Set(['', ...names.map((name) => name.toUpperCase())]);
  return (text) => keys.has(text.toUpperCase());
}

/** Whether a STATUS is blank or one of the primary statuses in `data/statuses.json`. */
export const isKnownStatus = isOneOf(STATUSES.primary);
/** Whether a SUB_STATUS is blank or one of those in `data/statuses.json`. */
export const isKnownSubStatus = isOneOf(STATUSES.sub);
/** Whether a Board Action is blank, Yes or No. */
export const isKnownBoardAction = isOneOf(['Yes', 'No']);
const isNoAction = isOneOf(['No']);
const DISCIPLINARY: ReadonlySet<string> = new Set(STATUSES.disciplinary.map(fold));

/** Maps the STATUS and SUB_STATUS columns, either of which may be blank, to the record's two fields (STATUS-04). */
export function recordStatus(primary: string, sub: string): Pick<StandingFields, 'status' | 'raw_status'> {
  return {
    status: primary === '' ? null : primary.toUpperCase(),
    raw_status: primary !== '' && sub !== '' ? `${primary} - ${sub}` : primary || sub || null,
  };
}

/**
 * The discipline on a license: whether its Board Action is Yes, and its disciplinary sub-status in upper case (empty if
 * it has none). `undefined` if the license has neither.
 */
export function disciplineOf(record: Pick<StandingFields, 'raw_status' | 'extra_data'>) {
  const acted = boardAction(record).toUpperCase() === 'YES';
  const subStatus = disciplinarySubStatus(record.raw_status ?? '');
  return acted || subStatus !== '' ? { hasBoardAction: acted, subStatus } : undefined;
}

/**
 * The disciplinary part of a status, as the specification groups them (2.5); empty if there is none. Spacing and later
 * parts do not matter: the disciplinary part of `Active - Suspended - Stayed` is `SUSPENDED`.
 */
const disciplinarySubStatus = memoize((raw) => {
  const part = raw.split(' - ').find((each) => DISCIPLINARY.has(fold(each)));
  return part?.toUpperCase() ?? '';
});

/** The Board Action as the State writes it; empty when it is blank. */
export function boardAction({ extra_data: extra }: Pick<StandingFields, 'extra_data'>): string {
  return extra[EXTRA_DATA_LABELS.boardAction] ?? '';
}

/** Whether the Board Action names an action: anything but blank and No. */
export function isBoardActionGiven(license: Pick<StandingFields, 'extra_data'>): boolean {
  const action = boardAction(license);
  // Nearly all licenses have exactly `No`, so that is checked first.
  return action !== 'No' && !isNoAction(action.trim());
}

/** Whether the board has acted on the license, by its Board Action or by a disciplinary sub-status. */
export function hasBoardAction(license: Pick<StandingFields, 'raw_status' | 'extra_data'>): boolean {
  return isBoardActionGiven(license) || disciplinarySubStatus(license.raw_status ?? '') !== '';
}

/** Stands for a status that the State leaves blank, so that it differs from one that was never stored. */
const STATUS_NOT_STATED = 'Not stated';

/** The attributes in an endorsement's `extra_data` that describe the license that it endorses. */
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

/**
 * The license that this endorsement endorses, as stored in the endorsement's document; `undefined` if this license is
 * not an endorsement. Publications of version 0.2.0 stored only the number, so they have no standing.
 */
export function endorsedLicense({ extra_data: extra }: Pick<StandingFields, 'extra_data'>) {
  const number = extra[EXTRA_DATA_LABELS.endorsedLicense];
  if (number === undefined) return undefined;
  const labels = ENDORSED_LICENSE_LABELS;
  const { [labels.status]: primary, [labels.subStatus]: sub, [labels.expirationDate]: expiry } = extra;
  if (primary === undefined) return { number, standing: undefined };
  const status = primary === STATUS_NOT_STATED ? '' : primary;
  return { number, standing: standingOf(status, sub, expiry, extra[labels.boardAction]) };
}

function standingOf(primary = '', sub = '', expiry?: string, boardAction?: string): StandingFields {
  return {
    ...recordStatus(primary, sub),
    expiry_date: expiry ?? null,
    extra_data: boardAction === undefined ? {} : { [EXTRA_DATA_LABELS.boardAction]: boardAction },
  };
}

const isOfEndorsement = (label: string) => label.startsWith('Endorsement ');
const OF_ENDORSEMENT = /^Endorsement (?:Number|Type|Status|Sub Status|Board Action) (\d+)$/;

/**
 * The endorsements of a license, in the order of its row. An endorsement with a number is also a license of its own.
 */
export function endorsementsOf({ extra_data: extra }: Pick<StandingFields, 'extra_data'>) {
  const labels = Object.keys(extra).filter(isOfEndorsement);
  if (labels.length === 0) return [];
  const texts = new Map(Object.entries(extra));
  const places = new Set(labels.flatMap((label) => OF_ENDORSEMENT.exec(label)?.[1] ?? []));
  return [...places].map((place) => {
    const text = (name: string) => texts.get(`Endorsement ${name} ${place}`);
    const expiry = isoDate(text('Expiration Date') ?? '');
    const standing = standingOf(text('Status'), text('Sub Status'), expiry, text('Board Action'));
    return { number: text('Number'), type: text('Type'), standing };
  });
}

/** What a reader of a license must not miss, in the order in which answers list it. */
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

/** The last expiry date that counts as soon: 30 days from today. */
const lastSoon = memoize((today) => daysBefore(today, -30));

const NOTE_CONDITIONS: Readonly<Record<Note, Condition>> = {
  expires_soon: ({ status, expiry_date: expiry }, today) =>
    status === 'ACTIVE' && expiry !== null && expiry >= today && expiry <= lastSoon(today),
  endorsement: (license, today) => endorsementsToTell(license, today).length > 0,
};

/** The endorsements of a license that are not active, are past their expiry dates, or on which the board has acted. */
export function endorsementsToTell(license: Pick<StandingFields, 'extra_data'>, today: string) {
  return endorsementsOf(license).filter(
    ({ standing }) =>
      standing.status !== 'ACTIVE' ||
      CAUTION_CONDITIONS.past_expiry(standing, today, undefined) ||
      hasBoardAction(standing),
  );
}

/**
 * The cautions of a license, in the order of `CAUTIONS`; empty if it has none.
 *
 * @param today the date in Ohio, `YYYY-MM-DD`
 * @param nameMatch whether a name sent with the number is the holder's
 */
export function cautionsOf(license: StandingFields, today: string, nameMatch?: boolean): Caution[] {
  return CAUTIONS.filter((caution) => CAUTION_CONDITIONS[caution](license, today, nameMatch));
}

/** The notes of a license, in the order of `NOTES`. @param today the date in Ohio, `YYYY-MM-DD` */
export function notesOf(license: StandingFields, today: string): Note[] {
  return NOTES.filter((note) => NOTE_CONDITIONS[note](license, today, undefined));
}
