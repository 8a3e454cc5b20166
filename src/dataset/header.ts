import { crc32 } from 'node:zlib';
import { z } from 'zod';
import aliasesJson from '../../data/column-aliases.json' with { type: 'json' };
import { ENDORSED_LICENSE_LABELS, EXTRA_DATA_LABELS } from '../licenses/standing.ts';
import { type DatasetFile, ENDORSEMENTS, STANDARD_COLUMNS } from './columns.ts';
import type { CsvRow } from './csv.ts';

const ALIASES = new Map(
  Object.entries(z.record(z.string(), z.array(z.string().transform(normalName))).parse(aliasesJson)),
);

/** The fields of a row that become fields of the record, besides the name, and the column of each. */
const RECORD_COLUMNS = [
  { field: 'board', column: 'BOARD', required: true },
  { field: 'number', column: 'LICENSE_NUMBER', required: true },
  { field: 'type', column: 'TYPE', required: true },
  { field: 'status', column: 'STATUS', required: true },
  { field: 'subStatus', column: 'SUB_STATUS', required: false },
  { field: 'city', column: 'PARCEL_CITY', required: false },
  { field: 'state', column: 'PARCEL_STATE', required: false },
  { field: 'county', column: 'PARCEL_COUNTY', required: false },
  { field: 'issueDate', column: 'ISSUE_DATE', required: false },
  { field: 'expirationDate', column: 'EXPIRATION_DATE', required: true },
  { field: 'runDate', column: 'QUERY_RUN_DATE', required: false },
] as const;

const NAME_COLUMN = { individual: 'LICENSEE_NAME', business: 'BUSINESS_NAME' } as const;

type RecordField = 'name' | (typeof RECORD_COLUMNS)[number]['field'];

/** The positions of a file's columns, counted from 0. */
export type Header = Readonly<ReturnType<typeof mapHeader>>;

/** The columns of a license, or of an endorsement with its own number. */
export type NumberedColumns = Readonly<
  Partial<
    Record<'number' | 'type' | 'status' | 'subStatus' | 'issueDate' | 'expirationDate', number | undefined>
  >
>;

/** The header lacks a required column or repeats a known column, so no row of the file can be read correctly. */
export class HeaderError extends Error {}

/**
 * Maps a header by column names. Case, blanks and order do not matter, the aliases in `data/column-aliases.json` are
 * accepted, and unknown columns go into `extra_data`.
 *
 * @throws {HeaderError} naming the missing or repeated columns
 */
export function mapHeader(file: DatasetFile, names: readonly string[]) {
  const positions = new Map<string, number>();
  names.forEach((name, position) => {
    const normal = normalName(name);
    if (normal === '') return;
    if (!positions.has(normal)) positions.set(normal, position);
    else if (KNOWN_COLUMNS.has(normal))
      throw new HeaderError(`The ${file} file has the column ${normal} twice.`);
    else positions.set(unusedName(positions, `${normal}_${position + 1}`), position);
  });
  // If the file lacks a current name, an older name stands for it.
  for (const [current, aliases] of ALIASES) {
    const alias = aliases.find((name) => positions.has(name)) ?? '';
    const position = positions.get(alias);
    if (position === undefined || positions.has(current) || NAME_COLUMNS.has(current)) continue;
    positions.delete(alias);
    positions.set(current, position);
  }
  const { columns, missing } = recordColumns(file, positions);
  if (missing.length > 0) {
    const other = file === 'individual' ? 'business' : 'individual';
    const isOther = recordColumns(other, positions).missing.length === 0;
    const swapped = isOther ? ` It has the columns of the ${other} file: are the two files swapped?` : '';
    throw new HeaderError(`The ${file} file lacks ${missing.join(', ')}.${swapped}`);
  }
  return {
    file,
    width: names.length,
    columns,
    /** The columns of each numbered endorsement. */
    endorsements: endorsementColumns(positions),
    /** The columns that go into `extra_data`, in the order of its keys. */
    extra: extraColumns(file, positions, new Set(Object.values(columns))),
    /** The columns about discipline that the file lacks. */
    missing: DISCIPLINE_COLUMNS.filter((name) => !positions.has(name)),
    /** Every column except the run date, by its current name, sorted by name. */
    named: [...positions]
      .filter(([, position]) => position !== columns.runDate)
      .map(([name, position]) => ({ name, nameHash: crc32(name), position }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

function recordColumns(file: DatasetFile, positions: ReadonlyMap<string, number>) {
  const columns: Partial<Record<RecordField, number>> = {};
  const missing: string[] = [];
  const name = { field: 'name', column: NAME_COLUMN[file], required: true } as const;
  for (const { field, column, required } of [name, ...RECORD_COLUMNS]) {
    const alias = [column, ...(ALIASES.get(column) ?? [])].find((each) => positions.has(each));
    const position = positions.get(alias ?? '');
    if (position !== undefined) columns[field] = position;
    else if (required) missing.push(column);
  }
  return { columns, missing };
}

function unusedName(taken: ReadonlyMap<string, number>, name: string): string {
  return taken.has(name) ? unusedName(taken, `${name}_`) : name;
}

const DISCIPLINE_COLUMNS = ['SUB_STATUS', 'BOARD_ACTION'] as const;

/** Columns of the record that also appear in `extra_data` (RECORD-15). */
const ALSO_IN_EXTRA: ReadonlySet<string> = new Set(['PARCEL_COUNTY', 'ISSUE_DATE']);

/** Columns that must not occur twice, because the service could not choose the right one. */
const KNOWN_COLUMNS: ReadonlySet<string> = new Set(Object.values(STANDARD_COLUMNS).flat());

function normalName(name: string): string {
  return name
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
}

/** An alias of one of these columns keeps its own name in `extra_data` and in a row's hash. */
const NAME_COLUMNS: ReadonlySet<string> = new Set(Object.values(NAME_COLUMN));

const LABELS: ReadonlyMap<string, string> = new Map([
  ['PARCEL_ZIP_CODE', 'ZIP'],
  ['PARCEL_COUNTY', 'County'],
  ['PARCEL_COUNTRY', 'Country'],
  ['PARCEL_STREET_ADDRESS', 'Street Address'],
]);

/**
 * The columns that are not part of the record, each with a unique label, so that no value overwrites another. The
 * State's columns come first in the State's order, then the others by name, so that the order of `extra_data` does not
 * depend on the file.
 */
function extraColumns(
  file: DatasetFile,
  positions: ReadonlyMap<string, number>,
  inRecord: ReadonlySet<number | undefined>,
): ExtraColumn[] {
  const standard = STANDARD_COLUMNS[file];
  const place = (name: string) => (standard.includes(name) ? standard.indexOf(name) : standard.length);
  const columns = [...positions].map(([name, position]) => ({ name, position, place: place(name) }));
  columns.sort((one, other) => one.place - other.place || (one.name < other.name ? -1 : 1));
  // The service adds these labels to endorsements. A State column with the same name gets another label.
  const ofEndorsements = [EXTRA_DATA_LABELS.endorsedLicense, ...Object.values(ENDORSED_LICENSE_LABELS)];
  const taken = new Set<string>([...LABELS.values(), ...ofEndorsements]);
  return columns.flatMap(({ name, position }) => {
    if (inRecord.has(position) && !ALSO_IN_EXTRA.has(name)) return [];
    const readable = readableName(name);
    const label = LABELS.get(name) ?? (taken.has(readable) ? `${readable} (${name})` : readable);
    taken.add(label);
    return [extraColumn(name, position, label)];
  });
}

export type ExtraColumn = ReturnType<typeof extraColumn>;

/** @param label the column's key in `extra_data` */
function extraColumn(name: string, position: number, label: string) {
  return {
    position,
    label,
    /** Whether the column is part of the address, where the word HIDDEN means blank. */
    isPlace: name.startsWith('PARCEL_'),
    isDate: name.includes('_DATE'),
  };
}

/** `MED_SPECIALTY_TYPE_1` → `Medical Specialty Type 1`. */
function readableName(name: string): string {
  return name
    .replace(/^MED_/, 'MEDICAL_')
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join(' ');
}

function endorsementColumns(positions: ReadonlyMap<string, number>) {
  const all = Array.from({ length: ENDORSEMENTS }, (_, index) => {
    const column = (name: string) => positions.get(`ENDORSEMENT_${name}_${index + 1}`);
    const extra = ['ISSUE_DATE', 'SUB_CATEGORY', 'BOARD_ACTION'].flatMap((name) => {
      const position = column(name);
      return position === undefined ? [] : [extraColumn(name, position, readableName(name))];
    });
    return {
      number: column('NUMBER'),
      type: column('TYPE'),
      status: column('STATUS'),
      subStatus: column('SUB_STATUS'),
      issueDate: column('ISSUE_DATE'),
      expirationDate: column('EXPIRATION_DATE'),
      extra,
    };
  });
  return all.filter(({ number }) => number !== undefined);
}

/**
 * The prime of FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/). Here it hashes UTF-16 units instead of bytes,
 * starting at 0.
 */
const PRIME = 0x01000193;

/**
 * A hash of the content of a row: the non-empty values and the names of their columns. It does not depend on the order
 * of the columns or the format of the file.
 *
 * @returns an unsigned 32-bit number
 */
export function rowHash({ fields }: CsvRow, { named }: Pick<Header, 'named'>): number {
  let hash = 0;
  for (const { nameHash, position } of named) {
    const field = fields[position];
    // Most rows fill about 20 of the 154 columns.
    if (field === undefined || field === '') continue;
    const value = field.trim();
    if (value === '') continue;
    hash = Math.imul(hash ^ nameHash, PRIME);
    for (let at = 0; at < value.length; at += 1) hash = Math.imul(hash ^ value.charCodeAt(at), PRIME);
  }
  return hash >>> 0;
}
