import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainCsv } from '../../src/csv.ts';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';
import type { DatasetFiles } from './publishing.ts';

const OBJECT_PROPERTIES = Object.getOwnPropertyNames(Object.prototype);

/**
 * Property names that every JavaScript object has. External text that selects something must never find one of them:
 * `{}['constructor']` is a function.
 */
export const PROPERTY_NAMES: readonly string[] = [
  ...OBJECT_PROPERTIES,
  ...['prototype', 'length', 'name', 'call', 'then', 'toJSON'],
];

/** Other values that are known to break programs. */
const ODD_VALUES = [
  ...['null', 'undefined', '[object Object]', '=HYPERLINK("x")', "'; DROP TABLE licenses; --"],
  ...['<script>alert(1)</script>', '{{7*7}}', '../../etc/passwd', 'a\nb', 'tab\there', '"quoted", twice'],
  ...['\u202Ereversed', 'e\u0301\u{1F600}', '*?~^[]\\/', '9'.repeat(200)],
];

/** A row with a hostile value in one column. */
export interface HostileRow {
  readonly file: keyof DatasetFiles;
  readonly column: string;
  readonly value: string;
  readonly number: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
}

const COLUMNS = { individual: INDIVIDUAL_COLUMNS, business: BUSINESS_COLUMNS } as const;

/** Whether a column accepts only a few texts, so that any other text rejects the row. */
export const isChecked = (column: string) =>
  column === 'QUERY_RUN_DATE' ||
  /^(ISSUE|EXPIRATION)_DATE$/.test(column) ||
  /^ENDORSEMENT_NUMBER_\d$/.test(column);

/** Each combination of a column and a hostile value. */
export function hostileRows(): HostileRow[] {
  const values = [...OBJECT_PROPERTIES, ...ODD_VALUES];
  let serial = 0;
  return (['individual', 'business'] as const).flatMap((file) =>
    [...COLUMNS[file], ...OBJECT_PROPERTIES].flatMap((column) => {
      if (column === 'LICENSE_NUMBER' || column === 'QUERY_RUN_DATE') return [];
      return values.map((value) => {
        serial += 1;
        return hostileRow(file, column, value, String(100_000 + serial));
      });
    }),
  );
}

function hostileRow(file: HostileRow['file'], column: string, value: string, serial: string): HostileRow {
  const isPerson = file === 'individual';
  const number = isPerson ? `RN.${serial}` : `0290${serial}`;
  const nameColumn = isPerson ? 'LICENSEE_NAME' : 'BUSINESS_NAME';
  const name = isPerson ? `HOSTILE${serial}, ADA` : `HOSTILE ${serial} LLC`;
  const fields = {
    [nameColumn]: name,
    ...{ BOARD: isPerson ? 'Nursing Board' : 'Board of Pharmacy', LICENSE_NUMBER: number },
    TYPE: isPerson ? 'Registered Nurse (RN)' : 'Terminal Distributor of Dangerous Drugs',
    ...{ STATUS: 'Active', PARCEL_CITY: 'LIMA', EXPIRATION_DATE: '2099-01-01', ISSUE_DATE: '2001-01-01' },
    [column]: value,
  };
  return { file, column, value, number, name: column === nameColumn ? value : name, fields };
}

/** Writes the rows as the State's two files of a day. Each file also has a column for each property name. */
export async function writeHostileDay(folder: string, date: string, rows: readonly HostileRow[]) {
  const written = async (file: keyof DatasetFiles) => {
    const path = join(folder, `hostile-${file}-${date}.csv`);
    const columns = [...COLUMNS[file], ...OBJECT_PROPERTIES];
    const ofFile = rows.filter((row) => row.file === file);
    const cells = ofFile.map(({ fields }) => {
      const values = new Map(Object.entries({ ...fields, QUERY_RUN_DATE: date }));
      return columns.map((column) => values.get(column) ?? '');
    });
    await writeFile(path, plainCsv([columns, ...cells], { delimiter: ',', newline: '\n' }));
    return path;
  };
  return { individual: await written('individual'), business: await written('business') };
}
