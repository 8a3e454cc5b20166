import type { Client } from '@opensearch-project/opensearch';
import { liveIndex } from './alias.ts';
import { type LedgerEvent, readEvents } from './ledger.ts';
import { readMetadata } from './metadata.ts';

/** A publication as its events tell it. */
export interface PublicationSummary {
  readonly publication: string;
  /** What happened last; `live` only for what the alias says is live. */
  readonly state: LedgerEvent['event'];
  readonly at: string;
  readonly date?: string | undefined;
  readonly index?: string | undefined;
  readonly sample?: boolean | undefined;
  readonly counts?: LedgerEvent['counts'];
  readonly sources?: LedgerEvent['sources'];
  readonly sha256?: LedgerEvent['sha256'];
  readonly reasons?: readonly string[] | undefined;
}

export interface PublicationHistory {
  readonly live: PublicationSummary | null;
  /** Every publication that the ledger knows, the latest first. */
  readonly publications: readonly PublicationSummary[];
}

/** The ledger told by publication, reconciled with the alias: what is live is what the alias says. */
export async function publicationHistory(client: Client, prefix: string): Promise<PublicationHistory> {
  const [events, index] = await Promise.all([readEvents(client, prefix), liveIndex(client, prefix)]);
  const live = index === undefined ? undefined : (await readMetadata(client, index)).publication;
  const publications = summarize(events, live).reverse();
  return { live: publications.find(({ publication }) => publication === live) ?? null, publications };
}

/** One summary for each publication, in the order in which they began. */
export function summarize(
  events: readonly LedgerEvent[],
  livePublication: string | undefined,
): PublicationSummary[] {
  const summaries = new Map<string, PublicationSummary>();
  for (const { publication, event, at, ...details } of events) {
    const before = summaries.get(publication);
    summaries.set(publication, { ...before, ...details, publication, at, state: event });
  }
  return [...summaries.values()].map((summary) =>
    summary.publication === livePublication
      ? { ...summary, state: 'live' }
      : { ...summary, state: summary.state === 'live' ? 'superseded' : summary.state },
  );
}
