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

/** How long a saved record is kept, in days: somewhat more than a year, from one yearly check to the next. */
export const SAVED_RECORD_DAYS = 400;

/** How many bytes of JSON a record may have: more than a list of 1,000 rows takes, and little enough for a request. */
export const MAX_RECORD_BYTES = 2_000_000;

export const MAX_NOTE_CHARACTERS = 100;

/** Characters that break a line, hide, or reverse the text beside them. */
const HIDDEN_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/gu;

const visibleText = z
  .string()
  .min(1)
  .refine((text) => text.search(HIDDEN_CHARACTERS) < 0);

/** What a visitor adds to a record. */
export const recordNote = visibleText.max(MAX_NOTE_CHARACTERS);

/** The SHA-256 of the State's files, in hexadecimal. */
export const sourceHashes = z.object({ individual: z.string(), business: z.string() });

/** What every kind of record has. */
const everyRecord = z.object({
  /** ISO 8601, in UTC. */
  saved_at: z.iso.datetime(),
  /** The publication that answered, its run date, and whether it was of generated data. */
  publication: z.string(),
  date: z.iso.date(),
  sample: z.boolean(),
  /** The date in Ohio when it was saved. */
  today: z.iso.date(),
  /** The SHA-256 of the State's files. Records of version 0.3.0 have none of the next three. */
  files: sourceHashes.optional(),
  /** The account that saved it; a visitor of the website has none. */
  account: z.string().optional(),
  /** What was saved, signed: a compact JWS of `statementOf`. */
  jws: z.string().optional(),
  /** Who checked, and for what, as whoever saved it says. */
  checked_by: recordNote.optional(),
  reference: recordNote.optional(),
  /** The search that led to it, in words, as the visitor's browser says. */
  search: visibleText.max(300).optional(),
});

/** A change of the license, as it was shown. */
const shownChange = historyChange
  .pick({ kind: true, cause: true, fields: true, ...RENUMBERED, date: true, withdrawn: true })
  .extend({ date: z.iso.date() });

/** What a license's page showed. Records from before there were kinds are of this one. */
const licenseCheck = everyRecord.extend({
  kind: z.literal('license').default('license'),
  /** What was asked, as it was sent. Records of version 0.3.0 have none. */
  asked: z.object({ board: z.string(), license_number: z.string() }).optional(),
  record: licenseRecord,
  /** The run date since which changes were known. */
  since: z.iso.date(),
  /** The times of which they were not; absent when there were none. */
  gaps: z.array(historyGap).optional(),
  changes: z.array(shownChange),
});

const cell = z.string().optional();

/** A row of a list beside what was found for it. */
const listRow = z.object({
  /** Its number in the list, as a spreadsheet shows it. A row with two license numbers is here twice. */
  row: z.int().min(1),
  /** What was sent, by what its columns mean; columns that were only kept are not here. */
  fields: z.object({
    ...{ license_number: cell, name: cell, last_name: cell, first_name: cell, business_name: cell },
    ...{ board: cell, reference: cell, search_type: cell },
    ...{ license_state: cell, credential_type: cell },
    ...{ license_type: cell, status: cell, city: cell, county: cell },
  }),
  need: z.enum(NEEDS),
  /** The license, or the first of several that fit; of its extra data only what its cautions depend on. */
  licenses: z.array(
    licenseRecord
      .pick({
        ...{ board: true, license_number: true, full_name: true, license_type: true },
        ...{ status: true, raw_status: true, expiry_date: true, issue_date: true, extra_data: true },
      })
      // Records of version 0.3.0 have none.
      .partial({ issue_date: true }),
  ),
  /** Whether the name sent with a number is the holder's. */
  name_match: z.boolean().optional(),
  /** What to do, or what was searched. */
  note: z.string(),
  /** Numbers that exist and may be meant. */
  near: z.array(z.string()),
});

export type ListRow = Readonly<z.output<typeof listRow>>;

/** What the page of a list showed. */
const listCheck = everyRecord.extend({
  kind: z.literal('list'),
  /** The code of the board of every row that names none; empty for none. */
  board: z.string().max(10),
  rows: z.array(listRow).min(1).max(1000),
});

/** What a person saw and saved, as it is stored. It is never changed. */
const savedRecord = z.discriminatedUnion('kind', [licenseCheck, listCheck]);

export type SavedRecord = Readonly<z.output<typeof savedRecord>>;

/** A record of one kind. */
export type SavedRecordOf<Kind extends SavedRecord['kind']> = Extract<SavedRecord, { kind: Kind }>;

/** A record of one kind that is to be saved. */
export type NewRecord<Kind extends SavedRecord['kind'] = SavedRecord['kind']> = Kind extends unknown
  ? Omit<SavedRecordOf<Kind>, 'saved_at' | 'jws'>
  : never;

/** What a license's page shows. */
interface ShownLicense extends Pick<Origin, 'publication' | 'date' | 'isSampleData' | 'files'> {
  readonly asked: NonNullable<SavedRecordOf<'license'>['asked']>;
  readonly record: LicenseRecord;
  readonly since: string;
  readonly gaps: readonly HistoryGap[];
  readonly changes: readonly HistoryChange[];
}

/** Who saves a record, and what they say; a blank text is nothing. */
type Saver = { readonly [Field in 'account' | 'checked_by' | 'reference' | 'search']?: string | undefined };

/** The record of the check of a license. @param today the date in Ohio */
export function recordOfLicense(shown: ShownLicense, today: string, saver: Saver): NewRecord<'license'> {
  const { asked, record, publication, date, isSampleData: sample, files, since, gaps, changes } = shown;
  return {
    kind: 'license',
    ...{ publication, date, sample, files, today, asked, record, since, changes: [...changes] },
    ...(gaps.length > 0 && { gaps: [...gaps] }),
    ...Object.fromEntries(Object.entries(saver).filter(([, text]) => text)),
  };
}

/** What the signature of a record is of: its facts, and the cautions and notes that follow from them on that day. */
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

/** How many bytes of a record may be saved for the price of one: a list costs more than a license. */
const BYTES_A_SAVE = 25_000;

/** How many saves a record counts as, where those of a day are counted. */
export function savesOf(record: NewRecord): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(record)) / BYTES_A_SAVE);
}

export const SAVED_RECORDS = collection('savedRecords', savedRecord);

/** A record was not saved. */
export class RecordRefusedError extends Error {
  /** `day`: visitors have saved as many as a day allows; `full`: as are kept altogether; `size`: it is too large. */
  readonly reason: 'day' | 'full' | 'size';

  constructor(reason: RecordRefusedError['reason']) {
    super(`No record was saved (${reason}).`);
    this.reason = reason;
  }
}

/** The limits are so that nobody can fill the disk of OpenSearch by saving. */
interface RecordSettings extends Pick<Signing, 'sign'> {
  /** How many may be saved within 24 hours. So many times `SAVED_RECORD_DAYS` are kept. */
  readonly perDay: number;
  /** How many bytes all of them may take on the disk. */
  readonly bytes: number;
}

export type SavedRecords = ReturnType<typeof savedRecords>;

/** The records that people save, each signed where the service has a key. */
export function savedRecords(store: Store, { sign, ...limits }: RecordSettings) {
  const index = store.names.savedRecords;
  /** What is used of a day's room and of all room, as last counted: 1 for all. */
  let used: Readonly<Record<'ofDay' | 'ofAll' | 'at', number>> | undefined;
  /** What is being saved: OpenSearch may not count it yet. */
  const saving = { records: 0, bytes: 0 };

  async function requireRoom(): Promise<void> {
    const since = new Date(Date.now() - DAY_MS).toISOString();
    const [lastDay, stats] = await Promise.all([
      countDocuments(store.client, index, { range: { saved_at: { gte: since } } }),
      store.client.indices.stats({ index, metric: ['docs', 'store'] }),
    ]);
    // The size of what is stored, without copies, is of up to ten seconds ago.
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
     * Saves what was shown. It can be read as soon as the promise is fulfilled.
     *
     * @param token random, for who may save it again: what is saved under it stays
     * @returns the code under which it is found
     * @throws {RecordRefusedError} when there is no room for it
     * @throws {ZodError} for what could not be read again
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
        // What is already there is this record: it was saved before, or OpenSearch's client has tried another node.
        await SAVED_RECORDS.update(store, code, (stored) => (stored === undefined ? record : undefined));
        return code;
      } finally {
        saving.records -= 1;
        saving.bytes -= bytes;
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
      const record = code && (await SAVED_RECORDS.read(store, code))?.document;
      return record && record.saved_at >= keptSince(now) ? record : undefined;
    },
    /**
     * How much of what a day allows is used, as last counted: 1 for all; `undefined` before this process saves the
     * first, and a day after it saved the last.
     */
    usedRatio: (): number | undefined => (used && Date.now() - used.at <= DAY_MS ? used.ofDay : undefined),
    /** How much of what is kept altogether is used, as last counted; `undefined` before this process saves the first. */
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

/** Crockford's base32: no letter that is easily taken for a digit, and no U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CHARACTERS = 16;
const CODE = /^[0-9A-HJKMNP-TV-Z]{16}$/i;

/** More than a code with a blank or hyphen beside each character. */
const MAX_CODE_CHARACTERS = 64;

/** The code of a new saved record: 80 random bits, so that nobody finds a record by trying codes. */
export function newRecordCode(token: string = randomUUID()): string {
  const random = hash('sha256', token, 'buffer').subarray(0, CHARACTERS);
  return Array.from(random, (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
}

/**
 * Reads a code as typed: case, blanks and hyphens do not matter, O is read as 0, I and L as 1.
 *
 * @returns its 16 characters; `undefined` for a text that is no code
 */
export function readRecordCode(text: string): string | undefined {
  if (text.length > MAX_CODE_CHARACTERS) return undefined;
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
