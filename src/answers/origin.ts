import { z } from 'zod';
import DESCRIPTIONS from '../../data/field-descriptions.json' with { type: 'json' };
import { boardByLabel } from '../licenses/boards.ts';
import { daysBetween } from '../licenses/dates.ts';
import { type LicenseRecord, licensePath } from '../licenses/license.ts';

/** The publication that an answer comes from, and the date of the answer. */
export interface Origin {
  /** The id of the publication. */
  readonly publication: string;
  /** Its run date, `YYYY-MM-DD`. */
  readonly date: string;
  /** The date in Ohio, `YYYY-MM-DD`: the data's age, days until expiry and cautions depend on it. */
  readonly today: string;
  /** Whether the data is generated sample data instead of the State's. */
  readonly isSampleData: boolean;
  /** The SHA-256 of the State's files; absent for a publication of version 0.2.0. */
  readonly files?: { readonly individual: string; readonly business: string } | undefined;
  /** The service's public URL, without a path: `https://licenses.example.gov`. */
  readonly publicUrl?: string | undefined;
}

/** Calendar days from the run date of the data to today; negative before that date. */
export function dataAgeDays({ date, today }: Pick<Origin, 'date' | 'today'>): number {
  return daysBetween(date, today);
}

/**
 * How current the data is: fresh up to 2 days, late up to 7 days, then stale. Data with a future date is stale, too.
 */
export function freshness(ageInDays: number): 'fresh' | 'late' | 'stale' {
  if (ageInDays < 0) return 'stale';
  if (ageInDays <= 2) return 'fresh';
  return ageInDays <= 7 ? 'late' : 'stale';
}

/** The field with the data's age, which every answer has. */
export const dataAge = { data_age_days: z.int().describe(DESCRIPTIONS.answer.data_age_days) };

/** The fields about its origin that every answer of the REST API has. */
export const originFields = {
  source: z.literal('dataset'),
  last_scraped: z.string().describe(DESCRIPTIONS.answer.last_scraped),
  ...dataAge,
};

export function originBody(origin: Pick<Origin, 'date' | 'today'>) {
  return {
    source: 'dataset',
    last_scraped: lastScraped(origin.date),
    data_age_days: dataAgeDays(origin),
  } as const;
}

/** The value of `last_scraped`: midnight of the publication's date, without a time zone. */
export function lastScraped(publicationDate: string): string {
  return `${publicationDate}T00:00:00`;
}

/** The address of a license's page; `undefined` without a public URL, or if the catalog does not have the board. */
export function licenseUrl(
  license: Pick<LicenseRecord, 'board' | 'license_number'>,
  { publicUrl }: Pick<Origin, 'publicUrl'>,
): string | undefined {
  if (publicUrl === undefined || boardByLabel(license.board) === undefined) return undefined;
  return publicUrl + licensePath(license);
}
