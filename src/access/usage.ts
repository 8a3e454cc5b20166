import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { daysBefore, todayInOhio } from '../licenses/dates.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

/** The outcomes of a request that operators see counted. */
export const OUTCOMES = [
  'found',
  'several',
  'none',
  'answered',
  'refused',
  'unauthorized',
  'limited',
  'unavailable',
  'failed',
] as const;

export type Outcome = (typeof OUTCOMES)[number];

/** The outcome for a status code. */
export function statusOutcome(status: number): Outcome {
  if (status < 400) return 'answered';
  if (status === 401) return 'unauthorized';
  if (status === 429) return 'limited';
  // 501: the operator has not configured the requested feature.
  if (status < 500 || status === 501) return 'refused';
  return status === 503 ? 'unavailable' : 'failed';
}

const WRITTEN_EVERY_MS = 10_000;

const storedUsage = z.object({
  /** The id of the key. */
  key: z.string(),
  /** A day in Ohio, `YYYY-MM-DD`. */
  day: z.string(),
  counts: z.partialRecord(z.enum(OUTCOMES), z.int()),
});

/** How often a key was used on a day, by outcome. Each API process stores its own document. */
export type KeyDay = z.output<typeof storedUsage>;

export const KEY_USAGE = collection('apiKeyUsage', storedUsage);

export type KeyUsage = ReturnType<typeof keyUsage>;

/**
 * Counts in memory and writes the counts every ten seconds. Each process has one document for a key and a day with its
 * full count, so writing it again changes nothing. A process that is killed loses at most ten seconds of counts.
 */
export function keyUsage(store: Store, onError: (error: unknown) => void) {
  const run = randomUUID();
  const known = new Map<string, KeyDay>();
  const unwritten = new Map<string, KeyDay>();
  let isFailing = false;

  async function write(): Promise<void> {
    const written = [...unwritten];
    unwritten.clear();
    try {
      await KEY_USAGE.putAll(store, written);
      isFailing = false;
      const today = todayInOhio();
      for (const [id, { day }] of known) if (day !== today && !unwritten.has(id)) known.delete(id);
    } catch (error) {
      for (const [id, usage] of written) unwritten.set(id, usage);
      if (!isFailing) onError(error);
      isFailing = true;
    }
  }

  const timer = setInterval(write, WRITTEN_EVERY_MS);
  timer.unref();
  return {
    count: (key: string, outcome: Outcome): void => {
      const day = todayInOhio();
      const id = `${key}/${day}/${run}`;
      const usage = known.get(id) ?? { key, day, counts: {} };
      usage.counts[outcome] = (usage.counts[outcome] ?? 0) + 1;
      known.set(id, usage);
      unwritten.set(id, usage);
    },
    /** Writes the remaining counts and stops. */
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await write();
    },
  };
}

/** The day of each key's last use, `YYYY-MM-DD`, by the id of the key. */
export async function lastUsed(store: Store): Promise<ReadonlyMap<string, string>> {
  await store.client.indices.refresh({ index: store.names.apiKeyUsage });
  const { documents } = await KEY_USAGE.search(store, {
    size: PAGE_SIZE,
    sort: [{ day: 'desc' }],
    collapse: { field: 'key' },
  });
  return new Map(documents.map(({ key, day }) => [key, day]));
}

const KEPT_DAYS = 400;

/** Deletes the counts of days past the retention period. */
export function deleteOldUsage(store: Store): Promise<void> {
  return KEY_USAGE.removeWhere(store, { range: { day: { lt: daysBefore(todayInOhio(), KEPT_DAYS) } } });
}

const PAGE_SIZE = 10_000;

/**
 * The use of keys since a day, latest day first.
 *
 * @param since `YYYY-MM-DD`
 * @param key the id of one key; all keys if left out
 */
export async function readKeyUsage(store: Store, since: string, key?: string): Promise<KeyDay[]> {
  await store.client.indices.refresh({ index: store.names.apiKeyUsage });
  const filter = [
    { range: { day: { gte: since } } },
    key === undefined ? { exists: { field: 'key' } } : { term: { key } },
  ];
  const pages = KEY_USAGE.pages(store, {
    size: PAGE_SIZE,
    query: { bool: { filter } },
    sort: [{ day: 'desc' }, { key: 'asc' }, { _seq_no: 'asc' }],
  });
  return addedUp((await Array.fromAsync(pages)).flat());
}

/** The counts of all processes, added up and sorted by first occurrence. */
export function addedUp(stored: readonly KeyDay[]): KeyDay[] {
  const sums = new Map<string, KeyDay>();
  for (const { key, day, counts } of stored) {
    const id = `${key}/${day}`;
    const before = sums.get(id)?.counts;
    const all = OUTCOMES.map((each) => [each, (before?.[each] ?? 0) + (counts[each] ?? 0)] as const);
    sums.set(id, { key, day, counts: Object.fromEntries(all.filter(([, count]) => count > 0)) });
  }
  return [...sums.values()];
}
