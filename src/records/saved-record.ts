import { z } from 'zod';
import { CHANGE_CAUSES, CHANGE_KINDS, fieldChange } from '../changes/change.ts';
import { historyGap } from '../changes/feed-state.ts';
import { licenseRecord } from '../licenses/license-record.ts';

/** How long a saved record is kept, in days: somewhat more than a year, from one yearly check to the next. */
export const SAVED_RECORD_DAYS = 400;

/** A change of the license, as it was shown. */
const shownChange = z.object({
  /** The run date of the publication that made it, `YYYY-MM-DD`. */
  date: z.iso.date(),
  kind: z.enum(CHANGE_KINDS),
  cause: z.enum(CHANGE_CAUSES),
  /** Present where a rollback had undone it by then. */
  withdrawn: z.literal(true).optional(),
  /** The fields that differ, by name. */
  fields: z.record(z.string(), fieldChange),
});

/** What a person saw of a license and saved, as it is stored. It is never changed. */
export const savedRecord = z.object({
  /** ISO 8601, in UTC. */
  saved_at: z.iso.datetime(),
  /** The publication that answered, its run date, and whether it was of generated data. */
  publication: z.string(),
  date: z.iso.date(),
  sample: z.boolean(),
  /** The date in Ohio when it was saved. */
  today: z.iso.date(),
  record: licenseRecord,
  /** The run date since which changes were known. */
  since: z.iso.date(),
  /** The times of which they were not; absent when there were none. */
  gaps: z.array(historyGap).optional(),
  changes: z.array(shownChange),
});

export type SavedRecord = Readonly<z.output<typeof savedRecord>>;
