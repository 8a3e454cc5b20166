import { type DigestEntry, digestEntries } from './digest.ts';

/** A license that is not the same in two publications. */
export interface Difference {
  readonly id: string;
  readonly kind: 'added' | 'changed' | 'removed';
  /** Hashes of the rows that it was read from; absent where there is none. */
  readonly rowBefore?: number;
  readonly rowAfter?: number;
}

/** Compares one part of two digests: first what was added or changed, in the order of the later one, then the rest. */
export function* differences(before: Buffer, after: Buffer): Generator<Difference, void, undefined> {
  const left = new Map<string, DigestEntry>();
  for (const entry of digestEntries(before)) left.set(entry.id, entry);
  for (const { id, record, row } of digestEntries(after)) {
    const old = left.get(id);
    left.delete(id);
    if (old === undefined) yield { id, kind: 'added', rowAfter: row };
    else if (old.record !== record) yield { id, kind: 'changed', rowBefore: old.row, rowAfter: row };
  }
  for (const { id, row } of left.values()) yield { id, kind: 'removed', rowBefore: row };
}
