import type { LicenseRecord } from '../licenses/license-record.ts';
import { numberKey } from '../licenses/number.ts';
import type { ChangeCause, ChangeKind, StoredChange } from './change.ts';
import { positionOf } from './feed-state.ts';
import { blankPlaces, changedFields, isPlaceField } from './record-fields.ts';

/** What all changes of one publication or rollback share. */
export interface ChangeOrigin {
  readonly feed: string;
  readonly epoch: number;
  /** ISO 8601. */
  readonly at: string;
  /** The publication that goes live, and its run date. */
  readonly publication: string;
  readonly date: string;
}

/** A license before and after; one of them may be missing. */
export interface LicensePair {
  /** The document id. */
  readonly license: string;
  readonly before: LicenseRecord | undefined;
  readonly after: LicenseRecord | undefined;
}

/**
 * The change that makes one record of the other; `undefined` when they are the same. Where a place becomes blank, the
 * State withdraws it, so the change does not say what it was, and names the fields whose earlier values must be erased.
 * A license that comes back without a place may have had one before. The change of a removed license says no place at
 * all: the State may withdraw it while the license is away.
 *
 * @param ordinal the change's number in its epoch, from 1
 */
export function makeChange(
  origin: ChangeOrigin,
  { license, before, after }: LicensePair,
  cause: ChangeCause,
  ordinal: number,
): StoredChange | undefined {
  const record = after ?? before;
  const fields = new Map<string, StoredChange['fields'][string]>(
    Object.entries(changedFields(before, after)),
  );
  const names = [...fields.keys()];
  if (record === undefined || names.length === 0) return undefined;
  const kind: ChangeKind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const withdrawn = names.filter((name) => isPlaceField(name) && fields.get(name)?.after === null);
  for (const name of withdrawn) {
    if (kind === 'removed') fields.delete(name);
    else fields.set(name, { before: null, after: null, erased: true });
  }
  const erases = { added: blankPlaces(after), changed: withdrawn, removed: [] }[kind];
  return {
    ...origin,
    position: positionOf(origin.epoch, ordinal),
    kind,
    cause,
    license,
    board: record.board,
    license_number: record.license_number,
    number: numberKey(record.license_number),
    full_name: record.full_name,
    fields: Object.fromEntries(fields),
    ...(erases.length > 0 && { erases }),
  };
}
