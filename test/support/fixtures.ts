import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DatasetFiles } from './publishing.ts';

/** The hand-written files with unusual rows, dated 2026-11-20. */
export const FIXTURES: DatasetFiles = {
  individual: resolve(import.meta.dirname, '../fixtures/individual.csv'),
  business: resolve(import.meta.dirname, '../fixtures/business.csv'),
};

/** The run date of the fixtures. */
export const FIXTURES_DATE = '2026-11-20';

/** The values of one row by column name. Columns that are left out stay empty. */
export type FixtureRow = Readonly<Record<string, string>>;

/** Writes the fixtures plus these rows as files into the folder. */
export const fixturesAnd = async (
  folder: string,
  added: { readonly individual?: readonly FixtureRow[]; readonly business?: readonly FixtureRow[] },
): Promise<DatasetFiles> => ({
  individual: await withRows(FIXTURES.individual, join(folder, 'individual.csv'), added.individual ?? []),
  business: await withRows(FIXTURES.business, join(folder, 'business.csv'), added.business ?? []),
});

/** Copies a file and adds these rows. @returns the path of the copy */
export async function withRows(from: string, to: string, rows: readonly FixtureRow[]): Promise<string> {
  const text = await readFile(from, 'utf8');
  const columns = text.slice(0, text.indexOf('\n')).replace('\ufeff', '').split(',');
  await writeFile(to, text + rows.map((row) => line(columns, row)).join(''));
  return to;
}

function line(columns: readonly string[], row: FixtureRow): string {
  for (const name of Object.keys(row))
    if (!columns.includes(name)) throw new Error(`The fixture has no column ${name}.`);
  return `${columns.map((name) => `"${(row[name] ?? '').replaceAll('"', '""')}"`).join(',')}\n`;
}

/** A row of the individual fixture: an active registered nurse. */
export const nurseRow = (name: string, number: string, values: FixtureRow = {}): FixtureRow => ({
  ...{ LICENSEE_NAME: name, BOARD: 'Nursing Board', LICENSE_NUMBER: number, TYPE: 'Registered Nurse (RN)' },
  ...{ STATUS: 'Active', PARCEL_CITY: 'LIMA', PARCEL_STATE: 'OH', PARCEL_COUNTY: 'Allen' },
  ...{ ISSUE_DATE: '2000-01-01', EXPIRATION_DATE: '2099-01-01', QUERY_RUN_DATE: FIXTURES_DATE },
  ...values,
});

/** A row of the business fixture: an active pharmacy. */
export const pharmacyRow = (name: string, number: string, values: FixtureRow = {}): FixtureRow => ({
  ...{ business_name: name, board_name: 'Board of Pharmacy', license_number: number },
  ...{ license_type: 'Terminal Distributor of Dangerous Drugs', license_status: 'Active' },
  ...{ parcel_city: 'LIMA', parcel_state: 'OH', parcel_county: 'Allen', license_issue_date: '2000-01-01' },
  ...{ license_expiration_date: '2099-01-01', query_run_date: FIXTURES_DATE },
  ...values,
});

/** This many things, made from the numbers starting at 1. */
export const times = <Thing>(count: number, thing: (number: number) => Thing): Thing[] =>
  Array.from({ length: count }, (_, at) => thing(at + 1));
