import type { Store } from '../storage/store.ts';
import { readableLiveIndex } from './alias.ts';
import { appendEvent, type LedgerEvent, type NewLedgerEvent, readEvents } from './ledger.ts';
import type { LicensesIndex } from './metadata.ts';

/**
 * Makes the ledger agree with the alias. They differ after a publication or rollback was killed between switching the
 * alias and writing its events.
 */
export async function reconcileLedger(store: Store): Promise<void> {
  // In this order: otherwise a switch in between would be recorded twice, the second time too late.
  const events = await readEvents(store);
  const live = await readableLiveIndex(store);
  for (const event of missingEvents(events, live)) await appendEvent(store, event);
}

/**
 * The events that the ledger lacks. The live publication needs a `live` event. Every other publication that the ledger
 * has as live was rolled back if its epoch is later than the live one's; otherwise it was superseded.
 */
export function missingEvents(
  events: readonly LedgerEvent[],
  live: LicensesIndex | undefined,
): NewLedgerEvent[] {
  if (live === undefined) return [];
  const { index, metadata } = live;
  const last = new Map(events.filter(isStateChange).map((event) => [event.publication, event]));
  const isRecorded = last.get(metadata.publication)?.event === 'live';
  const ended = [...last.values()]
    .filter(({ event, publication }) => event === 'live' && publication !== metadata.publication)
    .map(({ publication, index: before }): NewLedgerEvent => {
      const isRolledBack = epochOf(publication, events) > metadata.epoch;
      const event = isRolledBack ? 'rolled_back' : 'superseded';
      return { publication, event, ...(before === undefined ? {} : { index: before }) };
    });
  return isRecorded ? ended : [liveEvent(index, metadata), ...ended];
}

/** `queued` may be written late, and `canary_failed` leaves a publication live. */
function isStateChange({ event }: LedgerEvent): boolean {
  return event !== 'queued' && event !== 'canary_failed';
}

/** The epoch under which a publication was built: that of its first `live` event. */
function epochOf(publication: string, events: readonly LedgerEvent[]): number {
  const live = events.find((event) => event.publication === publication && event.event === 'live');
  return live?.epoch ?? 0;
}

/** The `live` event of an index, with the index's metadata. */
export function liveEvent(index: string, metadata: LicensesIndex['metadata']): NewLedgerEvent {
  const { publication, epoch, date, sample, counts, boards, discipline, sources, changes, service_version } =
    metadata;
  return {
    publication,
    event: 'live',
    index,
    epoch,
    date,
    sample,
    counts,
    boards,
    discipline,
    changes,
    service_version,
    ...(sources && {
      sources: { individual: sources.individual.name, business: sources.business.name },
      sha256: { individual: sources.individual.sha256, business: sources.business.sha256 },
    }),
  };
}
