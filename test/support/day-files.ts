import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatasetFiles } from './publishing.ts';

/** One row of a day's file. Fields that are left out have the values of a typical active license. */
export interface DayRow {
  readonly board: string;
  readonly number: string;
  readonly name?: string;
  readonly type?: string;
  readonly status?: string;
  readonly subStatus?: string;
  readonly boardAction?: string;
  readonly city?: string;
  readonly expires?: string;
}

/** The data that the State publishes on one day. */
export interface Day {
  /** The run date of both files, or of each file. */
  readonly date: string | Readonly<Record<keyof DatasetFiles, string>>;
  readonly individual: readonly DayRow[];
  readonly business: readonly DayRow[];
}

const COLUMNS =
  'BOARD,LICENSE_NUMBER,TYPE,STATUS,SUB_STATUS,BOARD_ACTION,EXPIRATION_DATE,PARCEL_CITY,QUERY_RUN_DATE';

/** Writes a day's two files into the folder. */
export async function writeDay(folder: string, name: string, day: Day): Promise<DatasetFiles> {
  const files = {
    individual: join(folder, `individual-${name}.csv`),
    business: join(folder, `business-${name}.csv`),
  };
  await writeFile(files.individual, textOf(day, 'individual'));
  await writeFile(files.business, textOf(day, 'business'));
  return files;
}

/** The text of one file. */
export function textOf({ date, ...rows }: Day, file: keyof DatasetFiles): string {
  const runDate = typeof date === 'string' ? date : date[file];
  const name = file === 'individual' ? 'LICENSEE_NAME' : 'BUSINESS_NAME';
  return `${name},${COLUMNS}\n${rows[file].map((row) => line(row, runDate)).join('')}`;
}

function line(row: DayRow, runDate: string): string {
  const { board, number, name = `HOLDER, ${number}`, type = '', status = 'Active' } = row;
  const { subStatus = '', boardAction = 'No', expires = '2099-01-01', city = 'LIMA' } = row;
  const fields = [name, board, number, type, status, subStatus, boardAction, expires, city, runDate];
  return `${fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')}\n`;
}

/** This many licenses of a board, with consecutive numbers. */
export const licensesOf = (board: string, prefix: string, count: number): DayRow[] =>
  Array.from({ length: count }, (_, at) => ({ board, number: `${prefix}${900_001 + at}` }));
