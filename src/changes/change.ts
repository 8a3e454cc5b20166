import { z } from 'zod';

/** What happened to a license. */
export const CHANGE_KINDS = ['added', 'changed', 'removed'] as const;

/**
 * Why a license differs between two publications.
 *
 * - `data`: the State's dataset says something else.
 * - `rollback`: an operator made another publication live.
 * - `rejected_row`: its row could not be read, or can be read again.
 * - `release`: the row says the same, but this version of the service reads it differently, or reads a new column.
 */
export const CHANGE_CAUSES = ['data', 'rollback', 'rejected_row', 'release'] as const;

export type ChangeKind = (typeof CHANGE_KINDS)[number];
export type ChangeCause = (typeof CHANGE_CAUSES)[number];

/** A field before and after; null where the record does not have it. */
export const fieldChange = z.object({
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Its values were erased, because the State no longer says where the holder is. */
  erased: z.literal(true).optional(),
});

/** A change of one license, as it is stored. */
export const storedChange = z.object({
  /** The feed that it is part of. */
  feed: z.string(),
  /** The epoch of the publication or rollback that made it. */
  epoch: z.int(),
  /** Its place in the feed. */
  position: z.int(),
  /** When it was found, ISO 8601. */
  at: z.string(),
  /** The publication that went live with it, and its run date. */
  publication: z.string(),
  date: z.string(),
  kind: z.enum(CHANGE_KINDS),
  cause: z.enum(CHANGE_CAUSES),
  /** The license's document id. */
  license: z.string(),
  board: z.string(),
  license_number: z.string(),
  /** The number as it is searched. */
  number: z.string(),
  full_name: z.string(),
  /** The fields that differ, by name. */
  fields: z.record(z.string(), fieldChange),
  /** The fields whose earlier values must be erased; of an added license, every place that it does not have. */
  erases: z.array(z.string()).optional(),
});

export type StoredChange = Readonly<z.output<typeof storedChange>>;

/** A change in the history of a license. */
export interface HistoryChange extends StoredChange {
  /** Present where a rollback has undone it: the dataset that said so was withdrawn by this service. */
  readonly withdrawn?: true | undefined;
}
