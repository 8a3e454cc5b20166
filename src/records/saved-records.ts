import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { storedChange } from '../changes/change.ts';
import { historyGap } from '../changes/feed.ts';
import { licenseRecord } from '../licenses/license.ts';
import { countDocuments } from '../storage/checked-search.ts';
import { collection } from '../storage/collection.ts';
import { isIndexNotFound, SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';

/** How long a saved record is kept, in days: somewhat more than a year, from one yearly check to the next. */
export const SAVED_RECORD_DAYS = 400;

/** A change of the license, as it was shown. */
const shownChange = storedChange.pick({ kind: true, cause: true, fields: true }).extend({
  /** The run date of the publication that made it, `YYYY-MM-DD`. */
  date: z.iso.date(),
  /** Present where a rollback had undone it by then. */
  withdrawn: z.literal(true).optional(),
});

/** What a person saw of a license and saved, as it is stored. It is never changed. */
const savedRecord = z.object({
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

export const SAVED_RECORDS = collection('savedRecords', savedRecord);

/** So many records have been saved within a day that no more are taken. */
export class TooManyRecordsError extends Error {}

export type SavedRecords = ReturnType<typeof savedRecords>;

/**
 * The records that people save.
 *
 * @param perDay how many may be saved within 24 hours: nobody can fill the disk of OpenSearch by saving
 */
export function savedRecords(store: Store, perDay: number) {
  let counted: { readonly records: number; readonly at: number } | undefined;
  let saving = 0;
  return {
    /**
     * Saves what was shown. It can be read as soon as the promise is fulfilled.
     *
     * @returns the code under which it is found
     * @throws {TooManyRecordsError} when all visitors together have saved as many as a day allows
     * @throws {ZodError} for what could not be read again
     */
    async save(shown: Omit<SavedRecord, 'saved_at'>, now: Date = new Date()): Promise<string> {
      const record = SAVED_RECORDS.valid({ ...shown, saved_at: now.toISOString() });
      saving += 1;
      try {
        // OpenSearch may not count yet what is being saved.
        const records = (await recordsOfLastDay(store)) + saving;
        counted = { records: Math.min(records, perDay), at: Date.now() };
        if (records > perDay) throw new TooManyRecordsError('Too many records have been saved within a day.');
        return await create(store, record);
      } finally {
        saving -= 1;
      }
    },
    /**
     * The record of a code, in any form in which the code is read.
     *
     * @returns `undefined` where there is none, or no longer
     * @throws {BadDocumentError} when what is stored is not valid
     */
    async read(typed: string, now: Date = new Date()): Promise<SavedRecord | undefined> {
      const code = readRecordCode(typed);
      const record = code === undefined ? undefined : (await SAVED_RECORDS.read(store, code))?.document;
      const isKept = record !== undefined && Date.parse(record.saved_at) >= keptSince(now).getTime();
      return isKept ? record : undefined;
    },
    /**
     * How much of what a day allows is used, as last counted: 1 for all; `undefined` before this process saves the
     * first, and a day after it saved the last.
     */
    usedRatio(): number | undefined {
      if (counted === undefined || Date.now() - counted.at > DAY_MS) return undefined;
      return counted.records / perDay;
    },
  };
}

async function create(store: Store, record: SavedRecord): Promise<string> {
  const code = newRecordCode();
  try {
    // What is already there is this record: the client has repeated the request at another node.
    await SAVED_RECORDS.update(store, code, (stored) => (stored === undefined ? record : undefined));
    return code;
  } catch (error) {
    if (!isIndexNotFound(error)) throw error;
    // The API was upgraded before a worker or a command has created the index.
    throw new SearchUnavailableError('There is no index of saved records yet');
  }
}

const DAY_MS = 86_400_000;

async function recordsOfLastDay({ client, names }: Store): Promise<number> {
  const since = new Date(Date.now() - DAY_MS).toISOString();
  try {
    return await countDocuments(client, names.savedRecords, { range: { saved_at: { gte: since } } });
  } catch (error) {
    if (isIndexNotFound(error)) return 0;
    throw error;
  }
}

/** Records saved before this moment are no longer kept. */
function keptSince(now: Date): Date {
  return new Date(now.getTime() - SAVED_RECORD_DAYS * DAY_MS);
}

export async function deleteExpiredRecords({ client, names }: Store, now: Date = new Date()): Promise<void> {
  await client.deleteByQuery({
    index: names.savedRecords,
    conflicts: 'proceed',
    refresh: true,
    body: { query: { range: { saved_at: { lt: keptSince(now).toISOString() } } } },
  });
}

/** Crockford's base32: no letter that is easily taken for a digit, and no U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CHARACTERS = 16;
const CODE = /^[0-9A-HJKMNP-TV-Z]{16}$/i;

/** More than a code with a blank or hyphen beside each character. */
const MAX_TYPED_CHARACTERS = 64;

/** The code of a new saved record: 80 random bits, so that nobody finds a record by trying codes. */
export function newRecordCode(): string {
  return Array.from(randomBytes(CHARACTERS), (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
}

/**
 * Reads a code as typed: case, blanks and hyphens do not matter, O is read as 0, I and L as 1.
 *
 * @returns its 16 characters; `undefined` for a text that is no code
 */
export function readRecordCode(text: string): string | undefined {
  if (text.length > MAX_TYPED_CHARACTERS) return undefined;
  const code = text
    .replace(/[\s\p{Pd}]/gu, '')
    .replace(/[Oo]/g, '0')
    .replace(/[IiLl]/g, '1');
  // Upper case comes last: it makes plain letters of some that are no part of a code, such as the dotless i.
  return CODE.test(code) ? code.toUpperCase() : undefined;
}

/** A code as people read it: `XXXX-XXXX-XXXX-XXXX`. */
export function writtenRecordCode(code: string): string {
  return code.replace(/(.{4})(?=.)/g, '$1-');
}
