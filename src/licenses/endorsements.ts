import { isoDate } from './dates.ts';
import { ENDORSED_LICENSE_LABELS, EXTRA_DATA_LABELS } from './extra-data-labels.ts';
import { recordStatus } from './status.ts';

/** How a license stands: what its cautions depend on. */
export interface StandingFields {
  /** The primary status in upper case. */
  readonly status: string | null;
  readonly raw_status: string | null;
  /** `YYYY-MM-DD` */
  readonly expiry_date: string | null;
  readonly extra_data: Readonly<Record<string, string>>;
}

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
  const boardAction = extra[ENDORSED_LICENSE_LABELS.boardAction];
  return {
    number,
    standing: {
      ...recordStatus(
        primary === STATUS_NOT_STATED ? '' : primary,
        extra[ENDORSED_LICENSE_LABELS.subStatus] ?? '',
      ),
      expiry_date: extra[ENDORSED_LICENSE_LABELS.expirationDate] ?? null,
      extra_data: boardAction === undefined ? {} : { [EXTRA_DATA_LABELS.boardAction]: boardAction },
    },
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
    const boardAction = text('Board Action');
    const standing = {
      ...recordStatus(text('Status') ?? '', text('Sub Status') ?? ''),
      expiry_date: isoDate(text('Expiration Date') ?? '') ?? null,
      extra_data: boardAction === undefined ? {} : { [EXTRA_DATA_LABELS.boardAction]: boardAction },
    };
    return [{ number, type: text('Type'), standing }];
  });
}
