import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../src/dataset/columns.ts';
import { isoDate } from '../src/licenses/dates.ts';
import { changesOf } from './generator/changes.ts';
import { type CsvFile, createCsvFile } from './generator/csv-file.ts';
import { drawLicenses } from './generator/licenses.ts';
import { loadPeople } from './generator/people.ts';
import { planBoards } from './generator/plan.ts';
import { createRandom } from './generator/random.ts';
import { businessRow, individualRow } from './generator/rows.ts';

/** With fewer rows, the few of each license type that there must be would leave no proportions. */
export const FEWEST_SAMPLE_ROWS = 1000;

export interface SampleDataOptions {
  /** Where the files go; it is created if need be, and files of the same names are replaced. */
  directory: string;
  /** Rows of both files together, headers not counted: 1,000 or more. */
  rows: number;
  /** A whole number of 0 or more. */
  seed: number;
  /** `YYYY-MM-DD`: the QUERY_RUN_DATE of every row. Nothing else depends on it. */
  date: string;
  /**
   * The share of rows, from 0 to 1, that differ from those without it in status, dates or place. A larger
   * share changes the same rows and more.
   */
  changed?: number;
  /** Called about every megabyte with the rows written so far. */
  onProgress?: (rowsWritten: number) => void;
  /** Stops the writing: its reason is thrown, and the unfinished files are removed. */
  signal?: AbortSignal;
}

/** The paths of the files written, and their rows without the header. */
export interface SampleDataFiles {
  individual: string;
  business: string;
  manifest: string;
  individualRows: number;
  businessRows: number;
}

/**
 * Writes `individual.csv` and `business.csv` as the State publishes them, with made-up holders, and last
 * `sample.json`, whose hashes tell that the two files were generated. The same options give the same bytes.
 *
 * @throws {RangeError} naming the option that is out of range
 */
export async function writeSampleData(options: SampleDataOptions): Promise<SampleDataFiles> {
  checkOptions(options);
  const { directory, rows, seed, date, changed = 0 } = options;
  const individual = join(directory, 'individual.csv');
  const business = join(directory, 'business.csv');
  const manifest = join(directory, 'sample.json');

  await mkdir(directory, { recursive: true });
  await rm(manifest, { force: true });
  try {
    const { sha256, businessRows } = await writeFiles(individual, business, options);
    const description = { generated: true, rows, seed, date, changed, sha256 };
    await writeFile(manifest, `${JSON.stringify(description, undefined, 2)}\n`);
    return { individual, business, manifest, individualRows: rows - businessRows, businessRows };
  } catch (error) {
    await Promise.all([individual, business, manifest].map((path) => rm(path, { force: true })));
    throw error;
  }
}

function checkOptions({ rows, seed, date, changed }: SampleDataOptions): void {
  if (!Number.isSafeInteger(rows) || rows < FEWEST_SAMPLE_ROWS) {
    throw new RangeError(`rows must be a whole number of ${FEWEST_SAMPLE_ROWS} or more, not ${rows}.`);
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new RangeError(`seed must be a whole number of 0 or more, not ${seed}.`);
  }
  if (isoDate(date) !== date) {
    throw new RangeError(`date must be a date that exists, as YYYY-MM-DD, not "${date}".`);
  }
  if (changed !== undefined && !(changed >= 0 && changed <= 1)) {
    throw new RangeError(`changed must be a share from 0 to 1, not ${changed}.`);
  }
}

interface WrittenFiles {
  readonly sha256: { readonly individual: string; readonly business: string };
  readonly businessRows: number;
}

async function writeFiles(
  individual: string,
  business: string,
  options: SampleDataOptions,
): Promise<WrittenFiles> {
  const people = await createCsvFile(individual, INDIVIDUAL_COLUMNS);
  try {
    const businesses = await createCsvFile(business, BUSINESS_COLUMNS);
    try {
      const businessRows = await writeRows(people, businesses, options);
      const sha256 = { individual: await people.finish(), business: await businesses.finish() };
      return { sha256, businessRows };
    } finally {
      await businesses.close();
    }
  } finally {
    await people.close();
  }
}

/** Writes all rows; gives how many went into the business file. */
async function writeRows(
  people: CsvFile,
  businesses: CsvFile,
  { rows, seed, date, changed = 0, onProgress, signal }: SampleDataOptions,
): Promise<number> {
  const asOfDate = changesOf(seed, changed);
  // A stream's name decides what it draws, so its spelling stays.
  let rowsWritten = 0;
  let businessRows = 0;
  for (const drawn of drawLicenses(createRandom(seed, 'licences'), planBoards(rows), loadPeople())) {
    const license = asOfDate(drawn);
    const isBusiness = license.planned.type.kind === 'business';
    const file = isBusiness ? businesses : people;
    const isFull = file.add(isBusiness ? businessRow(license, date) : individualRow(license, date));
    rowsWritten += 1;
    if (isBusiness) businessRows += 1;
    if (!isFull) continue;
    await file.flush();
    onProgress?.(rowsWritten);
    signal?.throwIfAborted();
  }
  onProgress?.(rowsWritten);
  return businessRows;
}
