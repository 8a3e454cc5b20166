import { z } from 'zod';
import { boardByName } from './boards.ts';
import { FILTER_NAMES, type FilterName, mapFilters } from './filters.ts';
import { fold } from './fold.ts';
import { holderName, tradeNameForms, tradeNameKey, tradeNames, tradeNameWords } from './name.ts';
import { numberDigits, numberKey } from './number.ts';
import { type LicenseRecord, licenseRecord } from './record.ts';

/** Whether the license is a person's or an establishment's. */
export type HolderKind = 'person' | 'business';

/** See `index-templates/licenses.json` for how each field is indexed. */
interface NameAndNumberKeys {
  readonly kind: HolderKind;
  readonly number: string;
  /** The number's last group of digits, without leading zeros, by which similar numbers are found. */
  readonly digits: string;
  /** `BOARD/SURNAME/GIVEN` or `BOARD/TRADENAME`: the order of answers, and the exact name. */
  readonly name: string;
  /** A person's `BOARD/SURNAME/GIVEN`, one for each form of the surname. */
  readonly holder?: readonly string[];
  /** A person's `BOARD/SURNAME`, one for each form: the surnames that a mistyped one may have meant. */
  readonly surname?: readonly string[];
  /** A business's `BOARD/TRADENAME` and the whole name's, and `/TRADENAME` for searches over all boards. */
  readonly business?: readonly string[];
  /** A business's `BOARD/WORD` and `/WORD`, one for each word of its trade names. */
  readonly words?: readonly string[];
}

/** Every key that is stored, those of the filters included. */
const KEY_NAMES: readonly string[] = [
  ...([
    'kind',
    'number',
    'digits',
    'name',
    'holder',
    'surname',
    'business',
    'words',
  ] as const satisfies readonly (keyof NameAndNumberKeys)[]),
  ...FILTER_NAMES,
];

/** What a license is found by. */
export type LicenseKeys = NameAndNumberKeys & Readonly<Record<FilterName, readonly string[]>>;

/** A license as it is stored: the record, where it was read, and its keys. */
export interface LicenseDocument extends LicenseRecord {
  /** File, line and place in the line: `individual:120:0`, endorsements from 1. */
  readonly source_row: string;
  readonly keys: LicenseKeys;
}

/** What is read back of a stored license. */
export const storedLicense = licenseRecord.extend({
  source_row: z.string(),
  keys: z.object({
    kind: z.enum(['person', 'business']),
    name: z.string(),
    holder: z.array(z.string()).default([]),
  }),
});

export type StoredLicense = z.output<typeof storedLicense>;

/** Keys that are only searched by, never read: more than a quarter of a response. */
export const UNREAD_KEYS = KEY_NAMES.filter((name) => !(name in storedLicense.shape.keys.shape));

/** How a board stands in keys: its code, or its folded label where the catalog does not know it. */
export function boardKey(boardName: string): string {
  return boardByName(boardName)?.code ?? fold(boardName);
}

/** The document id of a license: no board has a number twice (docs/decisions/005). */
export function licenseId(boardName: string, licenseNumber: string): string {
  return `${boardKey(boardName)}/${licenseNumber}`;
}

export function licenseDocument(record: LicenseRecord, kind: HolderKind, sourceRow: string): LicenseDocument {
  return {
    license_number: record.license_number,
    full_name: record.full_name,
    board: record.board,
    license_type: record.license_type,
    status: record.status,
    expiry_date: record.expiry_date,
    city: record.city,
    state: record.state,
    raw_status: record.raw_status,
    county: record.county,
    issue_date: record.issue_date,
    extra_data: record.extra_data,
    source_row: sourceRow,
    keys: kind === 'person' ? personKeys(record) : businessKeys(record),
  };
}

function personKeys(record: LicenseRecord): LicenseKeys {
  const board = boardKey(record.board);
  const { surname, surnameForms, given } = holderName(record.full_name);
  return {
    kind: 'person',
    number: numberKey(record.license_number),
    digits: numberDigits(record.license_number),
    name: `${board}/${surname}/${given}`,
    holder: surnameForms.map((form) => `${board}/${form}/${given}`),
    surname: surnameForms.map((form) => `${board}/${form}`),
    ...mapFilters(({ keysOf }) => keysOf(record)),
  };
}

function businessKeys(record: LicenseRecord): LicenseKeys {
  const board = boardKey(record.board);
  const names = tradeNames(record.full_name);
  return {
    kind: 'business',
    number: numberKey(record.license_number),
    digits: numberDigits(record.license_number),
    name: `${board}/${tradeNameKey(names[0] ?? '')}`,
    business: tradeNameForms(record.full_name).flatMap((form) => [`${board}/${form}`, `/${form}`]),
    words: distinct(names.flatMap(tradeNameWords)).flatMap((word) => [`${board}/${word}`, `/${word}`]),
    ...mapFilters(({ keysOf }) => keysOf(record)),
  };
}

function distinct(keys: readonly string[]): string[] {
  return keys.filter((key, at) => key !== '' && keys.indexOf(key) === at);
}
