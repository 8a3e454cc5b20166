import { z } from 'zod';
import { CAUTION_MEANINGS, CAUTIONS, cautionsOf } from './cautions.ts';
import { daysBetween } from './dates.ts';

/** A license in the dataset (RECORD-01), without the fields that depend on the day or the publication. */
export const licenseRecord = z.object({
  license_number: z.string().describe('The number as the board writes it'),
  full_name: z
    .string()
    .describe('"LAST, FIRST MIDDLE" of a person; the name, or both trade names, of a business'),
  board: z.string().describe('The name of the board that issued it'),
  license_type: z.string().nullable(),
  status: z.string().nullable().describe('The primary status, upper case; the set of values may grow'),
  expiry_date: z.string().nullable().describe('YYYY-MM-DD'),
  city: z.string().nullable(),
  state: z.string().nullable().describe('Two letters'),
  raw_status: z
    .string()
    .nullable()
    .describe('The authoritative label: primary status, or primary - sub-status'),
  county: z.string().nullable(),
  issue_date: z.string().nullable().describe('YYYY-MM-DD'),
  extra_data: z
    .record(z.string(), z.string())
    .describe('Every other attribute of the row that is not empty, by its readable name; the set varies'),
});

export type LicenseRecord = Readonly<z.output<typeof licenseRecord>>;

const meanings = CAUTIONS.map((caution) => `${caution} (${CAUTION_MEANINGS[caution]})`).join(', ');

/** A license record in the responses of every interface. Dates are `YYYY-MM-DD`; missing values are null. */
export const responseRecord = licenseRecord.extend({
  found: z.literal(true),
  days_until_expiry: z.int().nullable().describe('Calendar days in Ohio; negative once past'),
  cautions: z.array(z.enum(CAUTIONS)).describe(`What a reader must not miss, in this order: ${meanings}`),
  source: z.literal('dataset'),
  last_scraped: z.string().describe('The run date of the dataset that answered, YYYY-MM-DDT00:00:00'),
  name_match: z
    .boolean()
    .optional()
    .describe("Whether the name sent along with the number is the holder's; absent without such a name"),
});

export type ResponseRecord = z.output<typeof responseRecord>;

/**
 * Adds the fields that depend on the day, the publication and the request.
 *
 * @param publicationDate the dataset's run date, `YYYY-MM-DD`
 * @param today the date in Ohio, from which `days_until_expiry` counts
 * @param nameMatch whether a name sent along with the number is the holder's
 */
export function toResponseRecord(
  record: LicenseRecord,
  publicationDate: string,
  today: string,
  nameMatch?: boolean,
): ResponseRecord {
  return {
    found: true,
    license_number: record.license_number,
    full_name: record.full_name,
    board: record.board,
    license_type: record.license_type,
    status: record.status,
    expiry_date: record.expiry_date,
    days_until_expiry: record.expiry_date === null ? null : daysBetween(today, record.expiry_date),
    city: record.city,
    state: record.state,
    raw_status: record.raw_status,
    county: record.county,
    issue_date: record.issue_date,
    extra_data: record.extra_data,
    cautions: cautionsOf(record, today, nameMatch),
    source: 'dataset',
    last_scraped: lastScraped(publicationDate),
    ...(nameMatch === undefined ? {} : { name_match: nameMatch }),
  };
}

/** The value of `last_scraped`: midnight of the publication's date, without a time zone. */
export function lastScraped(publicationDate: string): string {
  return `${publicationDate}T00:00:00`;
}
