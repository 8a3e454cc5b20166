import type { Config } from '../../src/config.ts';
import { currentEpoch } from '../../src/publications/fence.ts';
import { lastLivePublication, type PublicationSummary } from '../../src/publications/history.ts';
import type { PublishJob, PublishProgress } from '../../src/publications/job.ts';
import { appendEvent, type NewLedgerEvent, type PublishStep } from '../../src/publications/ledger.ts';
import { liveIndex, type PublicationMetadata, readableLiveIndex } from '../../src/publications/metadata.ts';
import type { Store } from '../../src/storage/store.ts';
import { type Judgement, judge, type RefusalReason } from './judgement.ts';

/** What a publication needs from the process that runs it. */
export interface PublishContext {
  readonly store: Store;
  readonly config: Config;
  /** Aborted when the worker stops. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PublishProgress) => void;
  /** How long failed documents are retried; five minutes by default. */
  readonly giveUpAfterMs?: number | undefined;
  /** If set, the run is a check. Called with the index, which is deleted afterwards. */
  readonly look?: ((store: Store, index: string) => Promise<void>) | undefined;
}

/**
 * The publication that the guards compare with: the live one or, if nothing is live, as after a restore, the one that
 * was live last according to the ledger. It is `undefined` if that one has sample data.
 */
export type Baseline =
  | Pick<PublicationMetadata, 'publication' | 'date' | 'counts' | 'boards' | 'discipline'>
  | undefined;

function baselineOf(last: PublicationMetadata | PublicationSummary | undefined): Baseline {
  return last?.date === undefined || last.sample === true ? undefined : { ...last, date: last.date };
}

/** One attempt to publish two files. Every step takes it as a parameter; only its progress and its findings change. */
export type PublishRun = Awaited<ReturnType<typeof beginRun>>;

export async function beginRun(job: PublishJob, context: PublishContext) {
  const { store, look } = context;
  const isCheck = look !== undefined;
  const startedAt = new Date();
  // The epoch must be read before the live index: a publication that goes live after this has fenced this run, or
  // fences it when the run takes its epoch.
  const began = await currentEpoch(store);
  const replaces = await liveIndex(store);
  const live = await readableLiveIndex(store);
  const progress: PublishProgress = { step: 'reading', done: 0, total: 0 };
  const took: Record<string, number> = {};
  const judged: Judgement[] = [];
  const notes: string[] = [];
  const loaded: Partial<NewLedgerEvent> = {};
  const accepted = (job.accept ?? []).map(acceptedOf);
  let since = Date.now();
  let reported: PublishStep | undefined;

  /** Begins a step. */
  function enter(step: PublishStep): void {
    const now = Date.now();
    took[progress.step] = (took[progress.step] ?? 0) + (now - since) / 1000;
    since = now;
    if (step === reported) return;
    reported = step;
    advance(0, 0, step);
  }

  /** Reports how much of a step is done. */
  function advance(done: number, total: number, step = progress.step): void {
    Object.assign(progress, { step, done, total });
    context.onProgress(progress);
  }

  function isAccepted({ check, column, passed }: Judgement): boolean {
    const isMeant = (each: Accepted) => each.check === check && [undefined, column].includes(each.column);
    return !passed && accepted.some(isMeant);
  }

  /** Whether a guard refuses the publication. */
  const refuses = (judgement: Judgement): boolean =>
    !judgement.passed && job.force === undefined && !isAccepted(judgement);

  return {
    ...context,
    ...{ job, look, isCheck, startedAt },
    /** The epoch when the run began. A publication or rollback that takes a later epoch fences the run. */
    began,
    /** The index that was live when the run began. */
    replaces,
    /** The same index with its metadata; `undefined` also if the metadata are not valid. */
    live,
    baseline: baselineOf(live?.metadata ?? (await lastLivePublication(store))),
    accepted,
    /** The judgements of the guards so far. */
    judged,
    /** Unusual facts, one sentence each. */
    notes,
    /** The ledger's counts of the licenses, available after loading. */
    loaded,
    enter,
    advance,
    /** Returns the findings so far, in the format of the ledger. */
    found: () => {
      enter(progress.step);
      const seconds = Object.entries(took).map(([step, each]) => [step, Math.round(each * 10) / 10]);
      const reasons = reasonsOf(judged);
      return {
        ...{ notes: [...notes], checks: [...judged], seconds: Object.fromEntries(seconds) },
        reasons: reasons.length > 0 ? reasons : undefined,
      };
    },
    /** Appends an event of this publication to the ledger. */
    record: async (event: Omit<NewLedgerEvent, 'publication'>): Promise<void> => {
      if (!isCheck) await appendEvent(context.store, { ...event, publication: job.publication });
    },
    refuses,
    /**
     * Records the guards' judgements.
     *
     * @throws {RefusedError} when a guard does not pass, unless the operator accepts this or forces the publication
     */
    enforce: (judgements: readonly Judgement[]): void => {
      const refusing = judgements.filter(refuses);
      for (const each of judgements)
        if (!refuses(each)) judged.push(isAccepted(each) ? { ...each, accepted: true } : each);
      if (refusing.length > 0) throw new RefusedError(refusing);
    },
  };
}

type Accepted = ReturnType<typeof acceptedOf>;

/** Parses a guard failure that the operator accepts, in any column or in one. @param text `CODE` or `CODE:COLUMN` */
export function acceptedOf(text: string) {
  const [check = '', column] = text.split(':', 2);
  return { check, column: column?.toUpperCase() };
}

/**
 * Returns the reasons for the ledger and the operator: for each judgement that did not pass, its name, a colon, and a
 * sentence.
 */
export function reasonsOf(judgements: readonly Judgement[]): string[] {
  return judgements.filter(({ passed }) => !passed).map(({ check, sentence }) => `${check}: ${sentence}`);
}

/** The files must not be published. A retry with the same files would end the same way. */
export class RefusedError extends Error {
  readonly judgements: readonly Judgement[];

  constructor(judgements: readonly Judgement[]) {
    super(reasonsOf(judgements).join(' '));
    this.judgements = judgements;
  }
}

/** Creates a refusal whose reason does not come from a guard. */
export function refused(reason: RefusalReason, sentence: string): RefusedError {
  return new RefusedError([judge(reason, 1, 0, { sentence })]);
}
