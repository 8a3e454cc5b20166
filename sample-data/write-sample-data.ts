import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../src/dataset/columns.ts';
import { isoDate } from '../src/licenses/dates.ts';
import { type DayShares, laterDay } from './generator/changes.ts';
import { type CsvFile, createCsvFile } from './generator/csv-file.ts';
import { examplesInPlace } from './generator/examples.ts';
import { drawLicenses } from './generator/licenses.ts';
import { loadPeople } from './generator/people.ts';
import { planBoards } from './generator/plan.ts';
import { createRandom } from './generator/random.ts';
import { businessRow, individualRow } from './generator/rows.ts';

/** With fewer rows, the required minimum of each license type would distort the proportions. */
const FEWEST_SAMPLE_ROWS = 1000;

export interface SampleDataOptions extends DayShares {
  /** The folder for the files. It is created if missing, and existing files of the same names are replaced. */
  directory: string;
  /** The rows of both files together, without headers and before any are added or removed: 1,000 or more. */
  rows: number;
  /** A whole number of 0 or more. */
  seed: number;
  /** `YYYY-MM-DD`: the QUERY_RUN_DATE of every row. It affects nothing else. */
  date: string;
  /** Stops the writing. The signal's reason is thrown, and unfinished files are removed. */
  signal?: AbortSignal;
}

/** The paths of the written files and their numbers of rows without the header. */
export interface SampleDataFiles {
  individual: string;
  business: string;
  manifest: string;
  individualRows: number;
  businessRows: number;
}

/**
 * Writes `individual.csv` and `business.csv` in the State's format, with invented holders, and finally `sample.json`,
 * whose hashes identify the two files as generated. The same options give the same bytes.
 *
 * @throws {RangeError} naming the option that is out of range
 */
export async function writeSampleData(options: SampleDataOptions): Promise<SampleDataFiles> {
  checkOptions(options);
  const {
    directory,
    rows,
    seed,
    date,
    changed = 0,
    added = 0,
    removed = 0,
    renamed = 0,
    renumbered = 0,
  } = options;
  const individual = join(directory, 'individual.csv');
  const business = join(directory, 'business.csv');
  const manifest = join(directory, 'sample.json');

  await mkdir(directory, { recursive: true });
  await rm(manifest, { force: true });
  try {
    const { sha256, individualRows, businessRows } = await writeFiles(individual, business, options);
    const shares = { changed, added, removed, renamed, renumbered };
    const description = { generated: true, rows, seed, date, ...shares, sha256 };
    await writeFile(manifest, `${JSON.stringify(description, undefined, 2)}\n`);
    return { individual, business, manifest, individualRows, businessRows };
  } catch (error) {
    await Promise.all([individual, business, manifest].map((path) => rm(path, { force: true })));
    throw error;
  }
}

function checkOptions({ rows, seed, date, ...shares }: SampleDataOptions): void {
  if (!Number.isSafeInteger(rows) || rows < FEWEST_SAMPLE_ROWS) {
    throw new RangeError(`rows must be a whole number of ${FEWEST_SAMPLE_ROWS} or more, not ${rows}.`);
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new RangeError(`seed must be a whole number of 0 or more, not ${seed}.`);
  }
  if (isoDate(date) !== date) {
    throw new RangeError(`date must be a date that exists, as YYYY-MM-DD, not "${date}".`);
  }
  for (const name of ['changed', 'added', 'removed', 'renamed', 'renumbered'] as const) {
    const share = shares[name];
    if (share !== undefined && !(share >= 0 && share <= 1)) {
      throw new RangeError(`${name} must be a share from 0 to 1, not ${share}.`);
    }
  }
}

interface WrittenFiles {
  readonly sha256: { readonly individual: string; readonly business: string };
  readonly individualRows: number;
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
      const written = await writeRows(people, businesses, options);
      const sha256 = { individual: await people.finish(), business: await businesses.finish() };
      return { sha256, ...written };
    } finally {
      await businesses.close();
    }
  } finally {
    await people.close();
  }
}

/** Writes all rows. @returns the number of rows in each file */
async function writeRows(
  people: CsvFile,
  businesses: CsvFile,
  { rows, seed, date, signal, ...shares }: SampleDataOptions,
): Promise<Pick<WrittenFiles, 'individualRows' | 'businessRows'>> {
  const names = loadPeople();
  const onDay = laterDay(seed, shares, names);
  const exampleFor = examplesInPlace();
  let individualRows = 0;
  let businessRows = 0;
  // The random sequence depends on its name, so this name must not be changed.
  for (const drawn of drawLicenses(createRandom(seed, 'licences'), planBoards(rows), names)) {
    // Draw for every license, even if an example replaces it, so that the examples do not change other licenses.
    const later = onDay(drawn);
    const example = exampleFor(drawn);
    for (const license of example === undefined ? later : [example]) {
      const isBusiness = license.planned.type.kind === 'business';
      const file = isBusiness ? businesses : people;
      const isFull = file.add(isBusiness ? businessRow(license, date) : individualRow(license, date));
      if (isBusiness) businessRows += 1;
      else individualRows += 1;
      if (!isFull) continue;
      await file.flush();
      signal?.throwIfAborted();
    }
  }
  return { individualRows, businessRows };
}
