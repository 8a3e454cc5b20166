import type { Config } from '../../src/config.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import type { PublishJob, PublishProgress } from '../../src/publications/job.ts';
import { appendEvent, type NewLedgerEvent, type PublishStep } from '../../src/publications/ledger.ts';
import type { LicensesIndex, PublicationMetadata } from '../../src/publications/metadata.ts';
import type { Store } from '../../src/storage/store.ts';

/** What a publication needs from the process that runs it. */
export interface PublishContext {
  readonly store: Store;
  readonly config: Config;
  /** Aborted when the worker stops. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PublishProgress) => void;
  /** How long documents that OpenSearch does not take are sent again; five minutes when left out. */
  readonly giveUpAfterMs?: number | undefined;
}

/** What was live when an attempt began. */
interface Begun {
  readonly startedAt: Date;
  /** The epoch when it began: a publication or rollback that takes a later one fences it. */
  readonly began: number;
  /** The index that is live while it runs. */
  readonly replaces: string | undefined;
  /** The same with its metadata; `undefined` also where they are not valid. */
  readonly live: LicensesIndex | undefined;
  /** What was live last, by the ledger, where nothing is. */
  readonly lastLive: PublicationSummary | undefined;
}

/**
 * The publication that guards compare with: the live one; where nothing is live, as after a restore, the one that the
 * ledger says was live last. None, if that was generated.
 */
export type Baseline =
  | Pick<PublicationMetadata, 'publication' | 'date' | 'counts' | 'boards' | 'discipline'>
  | undefined;

function baselineOf({ live, lastLive }: Begun): Baseline {
  const last = live?.metadata ?? lastLive;
  return last?.date === undefined || last.sample === true ? undefined : { ...last, date: last.date };
}

/** One attempt to publish two files. Every step takes it; what changes in it is how far it is. */
export type PublishRun = ReturnType<typeof publishRun>;

export function publishRun(job: PublishJob, context: PublishContext, begun: Begun) {
  const progress: PublishProgress = { step: 'reading', bytes: 0, total_bytes: 0, rows: 0, documents: 0 };
  const took: Record<string, number> = {};
  const overridden: string[] = [];
  let since = Date.now();
  let reported: PublishStep | undefined;

  /** Begins a step. */
  function enter(step: PublishStep): void {
    const now = Date.now();
    took[progress.step] = (took[progress.step] ?? 0) + (now - since) / 1000;
    since = now;
    if (step === reported) return;
    reported = step;
    progress.step = step;
    context.onProgress(progress);
  }

  return {
    ...context,
    ...begun,
    job,
    baseline: baselineOf(begun),
    progress,
    /** What the guards said of a forced publication. */
    overridden,
    enter,
    /** How long each step took. */
    seconds: (): Record<string, number> => {
      enter(progress.step);
      return Object.fromEntries(
        Object.entries(took).map(([step, each]) => [step, Math.round(each * 10) / 10]),
      );
    },
    /** Appends an event of this publication to the ledger. */
    record: (event: Omit<NewLedgerEvent, 'publication'>): Promise<void> =>
      appendEvent(context.store, { ...event, publication: job.publication }),
    /**
     * @param details what the ledger records of a publication that is refused
     * @throws {RefusedError} where there are reasons, unless the publication is forced
     */
    enforce: (reasons: readonly string[], details?: Partial<NewLedgerEvent>): void => {
      if (reasons.length > 0 && job.force === undefined) throw new RefusedError(reasons, details);
      overridden.push(...reasons);
    },
  };
}

/** docs/generated/refusals.md shows them to the operator. */
type RefusalReason = keyof typeof import('../../data/refusals.json');

/** A reason as the ledger and the operator get it: its name, a colon, and a sentence. */
export function refusal(reason: RefusalReason, sentence: string): string {
  return `${reason}: ${sentence}`;
}

/** The reason where it holds, otherwise none. */
export function refusalIf(holds: boolean, reason: RefusalReason, sentence: string): string[] {
  return holds ? [refusal(reason, sentence)] : [];
}

/** The files must not be published. Another attempt with the same files would end the same way. */
export class RefusedError extends Error {
  readonly reasons: readonly string[];
  /** What the ledger records of the files beside the reasons. */
  readonly details: Partial<NewLedgerEvent>;

  /** @param reasons each made by `refusal` */
  constructor(reasons: readonly string[], details: Partial<NewLedgerEvent> = {}) {
    super(reasons.join(' '));
    this.reasons = reasons;
    this.details = details;
  }
}
