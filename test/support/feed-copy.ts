import { type LicenseRecord, licenseRecord } from '../../src/licenses/license.ts';
import type { Store } from '../../src/storage/store.ts';
import type { ApiClient } from './api.ts';
import { type Change, changesPage } from './changes.ts';
import { documentsIn } from './documents.ts';

type Fields = Map<string, string>;

/** Licenses by document id or by board and number, each with its non-null fields. */
export type LicenseCopy = Map<string, Fields>;

/** Every license of a physical index. */
export async function licensesInIndex(store: Store, index: string): Promise<LicenseCopy> {
  const documents = await documentsIn(store, index);
  return copyOf(documents.map(({ source }) => licenseRecord.parse(source)));
}

/** A copy of these records. */
export const copyOf = (records: readonly LicenseRecord[]): LicenseCopy =>
  new Map(records.map((record) => [keyOf(record), fieldsOf(record)]));

function fieldsOf(license: LicenseRecord): Fields {
  const { extra_data, ...record } = licenseRecord.parse(license);
  const extra = Object.entries(extra_data).map(([label, value]) => [`extra_data.${label}`, value] as const);
  const all = [...Object.entries(record), ...extra];
  return new Map(all.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])));
}

const keyOf = ({ board, license_number }: { board: string; license_number: string }): string =>
  `${board}/${license_number}`;

/** A client's copy of a publication that is updated from the feed. @param since the cursor of the copied publication */
export function feedCopy(licenses: LicenseCopy, since: string) {
  const applied: Record<string, number> = {};
  let cursor = since;
  return {
    licenses,
    /** The number of applied changes, by kind and cause. */
    applied,
    /** Reads and applies all available changes. @throws {Error} when a change does not fit the copy */
    catchUp: async (rest: ApiClient, limit: number) => {
      for (;;) {
        const page = await changesPage(rest, { since: cursor, limit: String(limit) });
        for (const change of page.changes) {
          applyChange(licenses, change);
          const name = `${change.kind} ${change.cause}`;
          applied[name] = (applied[name] ?? 0) + 1;
        }
        cursor = page.next;
        if (!page.more) return;
      }
    },
  };
}

function applyChange(licenses: LicenseCopy, change: Change): void {
  const key = keyOf(change);
  const before = licenses.get(key);
  if ((before === undefined) !== (change.kind === 'added'))
    throw new Error(`${key} is ${change.kind}, but the copy ${before ? 'has' : 'lacks'} it.`);
  if (change.kind === 'removed') return void licenses.delete(key);
  const fields: Fields = new Map(before);
  for (const [name, { before: old, after, erased }] of Object.entries(change.fields)) {
    if (erased !== true && (fields.get(name) ?? null) !== old)
      throw new Error(`${key}: ${name} was ${fields.get(name)}, not ${old}.`);
    if (after === null) fields.delete(name);
    else fields.set(name, after);
  }
  licenses.set(key, fields);
}
