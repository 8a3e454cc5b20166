import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Origin } from '../answers/origin.ts';
import { NEEDS, toResponseRecord } from '../answers/view.ts';
import { type HistoryChange, historyChange, RENUMBERED } from '../changes/change.ts';
import { type HistoryGap, historyGap } from '../changes/feed.ts';
import { SERVICE_VERSION } from '../config.ts';
import { DAY_MS } from '../licenses/dates.ts';
import { type LicenseRecord, licenseRecord } from '../licenses/license.ts';
import { cautionsOf, notesOf } from '../licenses/standing.ts';
import type { Signing } from '../signing/keys.ts';
import { countDocuments } from '../storage/checked-search.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

/**
 * How long a saved record is kept, in days: a little over a year, so that it lasts from one yearly check to the next.
 */
export const SAVED_RECORD_DAYS = 400;

/** The maximum size of a record's JSON. A list of 1,000 rows takes less, and the size fits in one request. */
export const MAX_RECORD_BYTES = 2_000_000;

export const MAX_NOTE_CHARACTERS = 100;

/** Characters that break a line, hide, or reverse the text beside them. */
const HIDDEN_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/gu;

const visibleText = z
  .string()
  .min(1)
  .refine((text) => text.search(HIDDEN_CHARACTERS) < 0);

/** A note that a visitor adds to a record. */
export const recordNote = visibleText.max(MAX_NOTE_CHARACTERS);

/** The SHA-256 of the State's files, in hexadecimal. */
export const sourceHashes = z.object({ individual: z.string(), business: z.string() });

/** The fields of every kind of record. */
const everyRecord = z.object({
  /** ISO 8601, in UTC. */
  saved_at: z.iso.datetime(),
  /** The publication that answered, its run date, and whether it has sample data. */
  publication: z.string(),
  date: z.iso.date(),
  sample: z.boolean(),
  /** The date in Ohio at the time of saving. */
  today: z.iso.date(),
  /** The SHA-256 of the State's files. Records of version 0.3.0 lack this field and the next two. */
  files: sourceHashes.optional(),
  /** The account that saved the record; absent for a visitor of the website. */
  account: z.string().optional(),
  /** The signed record: a compact JWS of `statementOf`. */
  jws: z.string().optional(),
  /** Who made the check and for what purpose, as entered by the person who saved the record. */
  checked_by: recordNote.optional(),
  reference: recordNote.optional(),
  /** The search that led to the record, in words, as sent by the visitor's browser. */
  search: visibleText.max(300).optional(),
});

/** A change of the license, as shown on the page. */
const shownChange = historyChange
  .pick({ kind: true, cause: true, fields: true, ...RENUMBERED, date: true, withdrawn: true })
  .extend({ date: z.iso.date() });

/** The content of a license's page. Records without a kind are older and of this kind. */
const licenseCheck = everyRecord.extend({
  kind: z.literal('license').default('license'),
  /** The request as it was sent. Records of version 0.3.0 lack it. */
  asked: z.object({ board: z.string(), license_number: z.string() }).optional(),
  record: licenseRecord,
  /** The run date since which changes were known. */
  since: z.iso.date(),
  /** The periods without known changes; absent if there are none. */
  gaps: z.array(historyGap).optional(),
  changes: z.array(shownChange),
});

const cell = z.string().optional();

/** A row of a list, with what was found for it. */
const listRow = z.object({
  /** The row number in the list, as a spreadsheet shows it. A row with two license numbers appears twice. */
  row: z.int().min(1),
  /** The submitted values by the meaning of their columns. Columns without a meaning are not included. */
  fields: z.object({
    ...{ license_number: cell, name: cell, last_name: cell, first_name: cell, business_name: cell },
    ...{ board: cell, reference: cell, search_type: cell },
    ...{ license_state: cell, credential_type: cell },
    ...{ license_type: cell, status: cell, city: cell, county: cell },
  }),
  need: z.enum(NEEDS),
  /** The license, or the first of several matching ones. The extra data is limited to what its cautions depend on. */
  licenses: z.array(
    licenseRecord
      .pick({
        ...{ board: true, license_number: true, full_name: true, license_type: true },
        ...{ status: true, raw_status: true, expiry_date: true, issue_date: true, extra_data: true },
      })
      // Records of version 0.3.0 have no issue date.
      .partial({ issue_date: true }),
  ),
  /** Whether the name sent with a number matches the holder's name. */
  name_match: z.boolean().optional(),
  /** Tells what to do next, or what was searched. */
  note: z.string(),
  /** Existing license numbers that may have been meant. */
  near: z.array(z.string()),
});

export type ListRow = Readonly<z.output<typeof listRow>>;

/** The content of a list's page. */
const listCheck = everyRecord.extend({
  kind: z.literal('list'),
  /** The code of the board used for rows that name none; blank if there is none. */
  board: z.string().max(10),
  rows: z.array(listRow).min(1).max(1000),
});

/** A stored record of what a person saw and saved. It is never changed. */
const savedRecord = z.discriminatedUnion('kind', [licenseCheck, listCheck]);

export type SavedRecord = Readonly<z.output<typeof savedRecord>>;

/** A record of one kind. */
export type SavedRecordOf<Kind extends SavedRecord['kind']> = Extract<SavedRecord, { kind: Kind }>;

/** A record of one kind before it is saved. */
export type NewRecord<Kind extends SavedRecord['kind'] = SavedRecord['kind']> = Kind extends unknown
  ? Omit<SavedRecordOf<Kind>, 'saved_at' | 'jws'>
  : never;

/** The content that a license's page shows. */
interface ShownLicense extends Pick<Origin, 'publication' | 'date' | 'isSampleData' | 'files'> {
  readonly asked: NonNullable<SavedRecordOf<'license'>['asked']>;
  readonly record: LicenseRecord;
  readonly since: string;
  readonly gaps: readonly HistoryGap[];
  readonly changes: readonly HistoryChange[];
}

/** The person or account that saves a record, and their notes. A blank text counts as absent. */
type Saver = { readonly [Field in 'account' | 'checked_by' | 'reference' | 'search']?: string | undefined };

/** Builds the record of a license check. @param today the date in Ohio */
export function recordOfLicense(shown: ShownLicense, today: string, saver: Saver): NewRecord<'license'> {
  const { asked, record, publication, date, isSampleData: sample, files, since, gaps, changes } = shown;
  return {
    kind: 'license',
    ...{ publication, date, sample, files, today, asked, record, since, changes: [...changes] },
    ...(gaps.length > 0 && { gaps: [...gaps] }),
    ...Object.fromEntries(Object.entries(saver).filter(([, text]) => text)),
  };
}

/**
 * Builds the statement that is signed: the record's facts, and the cautions and notes that follow from them on that
 * day.
 */
function statementOf(code: string, { saved_at: at, account: by = 'a visitor', ...saved }: SavedRecord) {
  const about = { code: writtenRecordCode(code), service_version: SERVICE_VERSION, at, by };
  if (saved.kind === 'license') {
    const { kind: _, record, ...facts } = saved;
    return { type: 'license_check', ...about, ...facts, answer: toResponseRecord(record, saved) };
  }
  const { kind: _, today, ...facts } = saved;
  const rows = saved.rows.map((row) => ({
    ...row,
    licenses: row.licenses.map((license) => ({
      ...license,
      cautions: cautionsOf(license, today, row.name_match),
      notes: notesOf(license, today),
    })),
  }));
  return { type: 'list_check', ...about, ...facts, today, rows };
}

/** How many bytes of a record count as one save. A list counts as more saves than a license. */
const BYTES_A_SAVE = 25_000;

/** Returns how many saves a record counts as in the daily limit. */
export function savesOf(record: NewRecord): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(record)) / BYTES_A_SAVE);
}

export const SAVED_RECORDS = collection('savedRecords', savedRecord);

/** Thrown when a record was not saved. */
export class RecordRefusedError extends Error {
  /**
   * `day`: the daily limit of visitors is reached; `full`: the total limit is reached; `size`: the record is too large.
   */
  readonly reason: 'day' | 'full' | 'size';

  constructor(reason: RecordRefusedError['reason']) {
    super(`No record was saved (${reason}).`);
    this.reason = reason;
  }
}

/** The limits keep anyone from filling OpenSearch's disk by saving records. */
interface RecordSettings extends Pick<Signing, 'sign'> {
  /** How many records may be saved within 24 hours. At most `SAVED_RECORD_DAYS` times as many are kept. */
  readonly perDay: number;
  /** The maximum disk size of all records, in bytes. */
  readonly bytes: number;
}

export type SavedRecords = ReturnType<typeof savedRecords>;

/** Saves and reads records. Each is signed if the service has a signing key. */
export function savedRecords(store: Store, { sign, ...limits }: RecordSettings) {
  const index = store.names.savedRecords;
  /** The used ratios of the daily and the total limit at the last count; 1 means all. */
  let used: Readonly<Record<'ofDay' | 'ofAll' | 'at', number>> | undefined;
  /** The records being saved now, which OpenSearch may not count yet. */
  const saving = { records: 0, bytes: 0 };

  async function requireRoom(): Promise<void> {
    const since = new Date(Date.now() - DAY_MS).toISOString();
    const [lastDay, stats] = await Promise.all([
      countDocuments(store.client, index, { range: { saved_at: { gte: since } } }),
      store.client.indices.stats({ index, metric: ['docs', 'store'] }),
    ]);
    // The stored size, without replicas, may be up to ten seconds old.
    const { docs, store: disk } = indexStats.parse(stats.body)._all.primaries;
    const ofDay = (lastDay + saving.records) / limits.perDay;
    const ofAll = Math.max(
      (docs.count + saving.records) / (limits.perDay * SAVED_RECORD_DAYS),
      (disk.size_in_bytes + saving.bytes) / limits.bytes,
    );
    used = { ofDay: Math.min(ofDay, 1), ofAll: Math.min(ofAll, 1), at: Date.now() };
    if (ofDay > 1) throw new RecordRefusedError('day');
    if (ofAll > 1) throw new RecordRefusedError('full');
  }

  return {
    /**
     * Saves what was shown. The record can be read as soon as the promise is fulfilled.
     *
     * @param token a random text for a client that may retry: the first record saved with it stays
     * @returns the record's code
     * @throws {RecordRefusedError} when there is no room for it
     * @throws {ZodError} for a record that could not be read back
     */
    async save(shown: NewRecord, now: Date = new Date(), token?: string): Promise<string> {
      const unsigned = SAVED_RECORDS.valid({ ...shown, saved_at: now.toISOString() });
      if (Buffer.byteLength(JSON.stringify(unsigned)) > MAX_RECORD_BYTES)
        throw new RecordRefusedError('size');
      const code = newRecordCode(token);
      const record = { ...unsigned, jws: await sign(statementOf(code, unsigned)) };
      const bytes = Buffer.byteLength(JSON.stringify(record));
      saving.records += 1;
      saving.bytes += bytes;
      try {
        await requireRoom();
        // A record that already exists is this one: it was saved before, or OpenSearch's client retried at another
        // node.
        await SAVED_RECORDS.update(store, code, (stored) => (stored === undefined ? record : undefined));
        return code;
      } finally {
        saving.records -= 1;
        saving.bytes -= bytes;
      }
    },
    /**
     * Reads the record with a code, typed in any accepted form.
     *
     * @returns `undefined` if there is no such record, or no longer
     * @throws {BadDocumentError} when the stored record is not valid
     */
    async read(typed: string, now: Date = new Date()): Promise<SavedRecord | undefined> {
      const code = readRecordCode(typed);
      const record = code && (await SAVED_RECORDS.read(store, code))?.document;
      return record && record.saved_at >= keptSince(now) ? record : undefined;
    },
    /**
     * The used ratio of the daily limit at the last count; 1 means all. It is `undefined` until this process saves its
     * first record, and a day after its last one.
     */
    usedRatio: (): number | undefined => (used && Date.now() - used.at <= DAY_MS ? used.ofDay : undefined),
    /** The used ratio of the total limit at the last count; `undefined` until this process saves its first record. */
    storedRatio: (): number | undefined => used?.ofAll,
  };
}

const indexStats = z.object({
  _all: z.object({
    primaries: z.object({ docs: z.object({ count: z.int() }), store: z.object({ size_in_bytes: z.int() }) }),
  }),
});

/** Records saved before this moment are no longer kept. */
function keptSince(now: Date): string {
  return new Date(now.getTime() - SAVED_RECORD_DAYS * DAY_MS).toISOString();
}

export function deleteExpiredRecords(store: Store, now: Date = new Date()): Promise<void> {
  return SAVED_RECORDS.removeWhere(store, { range: { saved_at: { lt: keptSince(now) } } });
}

/** Crockford's base32 alphabet, without letters that look like digits and without U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CHARACTERS = 16;
const CODE = /^[0-9A-HJKMNP-TV-Z]{16}$/i;

/** Longer than a code with a blank or hyphen beside each character. */
const MAX_CODE_CHARACTERS = 64;

/** Creates the code of a new record. Its 80 random bits keep anyone from finding a record by trying codes. */
export function newRecordCode(token: string = randomUUID()): string {
  const random = hash('sha256', token, 'buffer').subarray(0, CHARACTERS);
  return Array.from(random, (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
}

/**
 * Reads a code as typed. Case, blanks and hyphens do not matter; O is read as 0, I and L as 1.
 *
 * @returns the 16 characters of the code; `undefined` if the text is not a code
 */
export function readRecordCode(text: string): string | undefined {
  if (text.length > MAX_CODE_CHARACTERS) return undefined;
  const code = text
    .replace(/[\s\p{Pd}]/gu, '')
    .replace(/[Oo]/g, '0')
    .replace(/[IiLl]/g, '1');
  // Upper-casing must come last: it turns some characters that a code can't have, such as the dotless i, into plain
  // letters.
  return CODE.test(code) ? code.toUpperCase() : undefined;
}

/** Formats a code for people: `XXXX-XXXX-XXXX-XXXX`. */
export function writtenRecordCode(code: string): string {
  return code.replace(/(.{4})(?=.)/g, '$1-');
}
