import { DOCUMENT_CHECKS } from '../../src/cli/stored-documents.ts';
import type { Store, StoredIndex } from '../../src/storage/store.ts';
import { documentsIn } from './documents.ts';

const isStored = (name: string): name is StoredIndex => Object.hasOwn(DOCUMENT_CHECKS, name);
export const STORED_INDICES: readonly StoredIndex[] = Object.keys(DOCUMENT_CHECKS).filter(isStored);

/** Values of every JSON type, and a few that look almost valid. */
const VALUES: readonly unknown[] = [null, true, 12, -1.5, 'x', '', {}, [], [1], { x: 1 }, '2026-99-99'];

type StoredDocument = Awaited<ReturnType<typeof documentsIn>>[number];

/**
 * Damaged versions of a document: each of its fields missing or with every wrong type, and only half of it. None of
 * them is valid.
 */
function* brokenFrom(index: StoredIndex, { id, source }: StoredDocument) {
  const fields = Object.entries(source);
  const variants: object[] = [{}, Object.fromEntries(fields.slice(0, fields.length >> 1))];
  for (const [name] of fields) {
    variants.push(Object.fromEntries(fields.filter(([each]) => each !== name)));
    for (const value of VALUES) variants.push({ ...source, [name]: value });
  }
  for (const variant of variants)
    if (DOCUMENT_CHECKS[index](variant, id).problem !== undefined) yield variant;
}

/**
 * Adds damaged versions of its documents to each index, and keeps the existing documents.
 *
 * @returns how many each index got
 */
export async function addBadDocuments(store: Store): Promise<ReadonlyMap<StoredIndex, number>> {
  const added = new Map<StoredIndex, number>();
  for (const index of STORED_INDICES) {
    const documents = await documentsIn(store, store.names[index]);
    const byKind = new Map(documents.map((each) => [Object.keys(each.source).join(), each]));
    const broken = [...byKind.values()].flatMap((each) => [...brokenFrom(index, each)]);
    const body = broken.flatMap((document, at) => [{ index: { _id: `bad-${index}-${at}` } }, document]);
    const { body: answer } = await store.client.bulk({ index: store.names[index], body, refresh: true });
    // OpenSearch rejects values of the wrong type for some fields; those documents cannot be stored.
    added.set(index, answer.items.filter((item) => item.index?.error === undefined).length);
  }
  return added;
}
