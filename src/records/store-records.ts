import { countDocuments } from '../storage/checked-search.ts';
import { isIndexNotFound, responseStatus } from '../storage/client.ts';
import { collection } from '../storage/collection.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import { newRecordCode, readRecordCode } from './code.ts';
import { SAVED_RECORD_DAYS, type SavedRecord, savedRecord } from './saved-record.ts';

/** The records that people save. */
export interface SavedRecords {
  /**
   * Saves what was shown. It can be read as soon as the promise is fulfilled.
   *
   * @returns the code under which it is found
   * @throws {TooManyRecordsError} when all visitors together have saved as many as a day allows
   * @throws {ZodError} for what could not be read again
   */
  save(shown: Omit<SavedRecord, 'saved_at'>, now?: Date): Promise<string>;
  /**
   * The record of a code, in any form in which the code is read.
   *
   * @returns `undefined` where there is none, or no longer
   * @throws {BadDocumentError} when what is stored is not valid
   */
  read(code: string, now?: Date): Promise<SavedRecord | undefined>;
  /**
   * How much of what a day allows is used, as last counted: 1 for all; `undefined` before this process saves the first,
   * and a day after it saved the last.
   */
  usedRatio(): number | undefined;
}

/** The saved records, under their codes. */
export const SAVED_RECORDS = collection('savedRecords', savedRecord);

/** So many records have been saved within a day that no more are taken. */
export class TooManyRecordsError extends Error {}

/**
 * @param perDay how many may be saved within 24 hours: nobody can fill the disk of OpenSearch by saving
 * @param newCode gives the codes of new records
 */
export function savedRecords(
  store: Store,
  perDay: number,
  newCode: () => string = newRecordCode,
): SavedRecords {
  let counted: { records: number; readonly at: number } | undefined;
  let counting: Promise<{ records: number; readonly at: number }> | undefined;
  let saving = 0;

  /** Counts in OpenSearch every few seconds, for all processes, and what this process saves in between. */
  async function takePlace(): Promise<void> {
    if (counted === undefined || Date.now() - counted.at > COUNTED_EVERY_MS) {
      counting ??= recordsOfLastDay(store)
        // OpenSearch may not count yet what is being saved.
        .then((records) => ({ records: records + saving, at: Date.now() }))
        .finally(() => {
          counting = undefined;
        });
      counted = await counting;
    }
    if (counted.records >= perDay)
      throw new TooManyRecordsError('Too many records have been saved within a day.');
    counted.records += 1;
  }

  return {
    usedRatio: () =>
      counted === undefined || Date.now() - counted.at > DAY_MS ? undefined : counted.records / perDay,
    save: async (shown, now = new Date()) => {
      const record = SAVED_RECORDS.valid({ ...shown, saved_at: now.toISOString() });
      await takePlace();
      saving += 1;
      return create(store, record, newCode).finally(() => {
        saving -= 1;
      });
    },
    read: async (typed, now = new Date()) => {
      const code = readRecordCode(typed);
      const record = code === undefined ? undefined : (await SAVED_RECORDS.read(store, code))?.document;
      return record === undefined || isExpired(record, now) ? undefined : record;
    },
  };
}

/**
 * Two equal codes are next to impossible. But a request that the client repeats at another node may find what it stored
 * itself; nobody learns the code of that copy, and it expires.
 */
const MAX_CODES = 5;

async function create({ client, names }: Store, record: SavedRecord, newCode: () => string): Promise<string> {
  for (let codes = 1; ; codes += 1) {
    const code = newCode();
    try {
      await client.index({
        index: names.savedRecords,
        id: code,
        op_type: 'create',
        body: record,
        refresh: true,
      });
      return code;
    } catch (error) {
      const status = responseStatus(error);
      // The API was upgraded before a worker or a command has created the index.
      if (status === 404) throw new SearchUnavailableError('There is no index of saved records yet');
      if (status !== 409 || codes === MAX_CODES) throw error;
    }
  }
}

const DAY_MS = 86_400_000;
const COUNTED_EVERY_MS = 10_000;

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

function isExpired({ saved_at: savedAt }: SavedRecord, now: Date): boolean {
  return Date.parse(savedAt) < keptSince(now).getTime();
}

/** Deletes the records that are no longer kept. */
export async function deleteExpiredRecords({ client, names }: Store, now: Date = new Date()): Promise<void> {
  await client.deleteByQuery({
    index: names.savedRecords,
    conflicts: 'proceed',
    refresh: true,
    body: { query: { range: { saved_at: { lt: keptSince(now).toISOString() } } } },
  });
}
