import { z } from 'zod';
import DESCRIPTIONS from '../../data/field-descriptions.json' with { type: 'json' };
import { boardByLabel, currentBoardName } from './boards.ts';
import { mapFilters } from './filters.ts';
import { fold, numberDigits, numberKey } from './fold.ts';
import {
  businessNameKeys,
  businessWords,
  foldPersonName,
  holderKeys,
  tradeNameKey,
  tradeNames,
} from './names.ts';

/** A license in the dataset (RECORD-01), without the fields that depend on the day or the publication. */
export const licenseRecord = z.object({
  license_number: z.string().describe(DESCRIPTIONS.record.license_number),
  full_name: z.string().describe(DESCRIPTIONS.record.full_name),
  board: z.string().describe(DESCRIPTIONS.record.board),
  license_type: z.string().nullable(),
  status: z.string().nullable().describe(DESCRIPTIONS.record.status),
  expiry_date: z.string().nullable().describe(DESCRIPTIONS.record.expiry_date),
  city: z.string().nullable(),
  state: z.string().nullable().describe(DESCRIPTIONS.record.state),
  raw_status: z.string().nullable().describe(DESCRIPTIONS.record.raw_status),
  county: z.string().nullable(),
  issue_date: z.string().nullable().describe(DESCRIPTIONS.record.issue_date),
  extra_data: z.record(z.string(), z.string()).describe(DESCRIPTIONS.record.extra_data),
});

export type LicenseRecord = Readonly<z.output<typeof licenseRecord>>;

/** Whether the license is held by a person or an establishment. */
export type HolderKind = 'person' | 'business';

/** A license in the index: the record, its place in the State's file, and the keys by which it is found. */
export type LicenseDocument = Readonly<ReturnType<typeof licenseDocument>>;

/**
 * A schema of stored values by name. `z.record` would drop the name `__proto__`, and it copies the values one by one:
 * for the attributes of a license, that takes as long as checking everything else.
 */
export function valuesByName<Value>(isValue: (value: unknown) => boolean, message?: string) {
  return z.custom<Record<string, Value>>(
    (all) =>
      typeof all === 'object' && all !== null && !Array.isArray(all) && Object.values(all).every(isValue),
    message,
  );
}

/** The part of a stored license that lookups read. */
export const storedLicense = licenseRecord.extend({
  // The catalog may have renamed the board since the publication was made.
  board: z.string().transform(currentBoardName),
  extra_data: valuesByName<string>((value) => typeof value === 'string'),
  source_row: z.string(),
  keys: z.object({
    kind: z.enum(['person', 'business']),
    name: z.string(),
    holder: z.array(z.string()).default([]),
  }),
});

export type StoredLicense = z.output<typeof storedLicense>;

/**
 * The part of a key that identifies the board: its code, by its current name or an older one; the folded label if the
 * catalog does not have the board.
 */
export function boardKey(boardName: string): string {
  return boardByLabel(boardName)?.code ?? fold(boardName);
}

type LicenseName = Pick<LicenseRecord, 'board' | 'license_number'>;

/** The path of a license's page. */
export function licensePath({ board, license_number: number }: LicenseName): string {
  return `/licenses/${encodeURIComponent(boardKey(board))}/${encodeURIComponent(number)}`;
}

/** The document id of a license. It is unique, because no board uses a number twice (docs/decisions/004). */
export function licenseId(boardName: string, licenseNumber: string): string {
  return `${boardKey(boardName)}/${licenseNumber}`;
}

/** OpenSearch rejects longer ids, and the whole request that contains one. */
const MAX_ID_BYTES = 512;

/**
 * Whether OpenSearch accepts the id. An id may be too long because each character of an unknown board's label may fold
 * to 15.
 */
export function isPossibleId(id: string): boolean {
  return id.length <= MAX_ID_BYTES && Buffer.byteLength(id) <= MAX_ID_BYTES;
}

/**
 * The document of a license in the index. `index-templates/licenses.json` says how each key is indexed.
 *
 * @param source_row the file, the line, and 0 or the endorsement's number: `individual:120:0`
 */
export function licenseDocument(record: LicenseRecord, kind: HolderKind, source_row: string) {
  const keys = {
    kind,
    number: numberKey(record.license_number),
    /** The number's last group of digits, without leading zeros. Searches for similar numbers use it. */
    digits: numberDigits(record.license_number),
    ...nameKeys(record, kind),
    ...mapFilters(({ keysOf }) => keysOf(record)),
  };
  return { ...record, source_row, keys };
}

/**
 * A record as JSON, without the closing brace. Two records have the same text if all their fields are equal. A hash of
 * this text is kept to detect changes, and the JSON of the record's document begins with this text.
 */
export function recordText(record: LicenseRecord): string {
  const fields: LicenseRecord = {
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
  };
  return JSON.stringify(fields).slice(0, -1);
}

/** The JSON of a license's document. @param text the text of its record */
export function documentJson(text: string, { source_row, keys }: LicenseDocument): string {
  return `${text},${JSON.stringify({ source_row, keys }).slice(1)}`;
}

function nameKeys(record: LicenseRecord, kind: HolderKind) {
  const board = boardKey(record.board);
  if (kind === 'person') {
    const name = foldPersonName(record.full_name);
    return {
      /**
       * `BOARD/SURNAME/GIVEN` or `BOARD/TRADENAME`. Matches are sorted by this key, and exact names are compared with
       * it.
       */
      name: `${board}/${name.surname}/${name.given}`,
      /** `BOARD/SURNAME/GIVEN`, one for each form of the surname; `BOARD/HALF-/GIVEN` for half of a double surname. */
      holder: holderKeys(board, name),
      /** `BOARD/SURNAME`, one for each form. Corrections of a mistyped surname are suggested from these. */
      surname: name.surnameForms.map((form) => `${board}/${form}`),
    };
  }
  const [tradeName = ''] = tradeNames(record.full_name);
  return {
    name: `${board}/${tradeNameKey(tradeName)}`,
    /** `BOARD/NAME`, for each trade name and the whole name, and `/NAME` for searches over all boards. */
    business: businessNameKeys(record.full_name).flatMap((form) => [`${board}/${form}`, `/${form}`]),
    /** `BOARD/WORD` and `/WORD`, one for each word of the trade names. */
    words: businessWords(record.full_name).flatMap((word) => [`${board}/${word}`, `/${word}`]),
  };
}
