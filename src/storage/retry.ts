import { setTimeout as sleep } from 'node:timers/promises';

interface RetryOptions {
  readonly tries: number;
  /** The wait before the second try. It about doubles with each later try. */
  readonly firstWaitMs: number;
  /** Whether another try may succeed. */
  readonly isWorthIt: (error: unknown) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Repeats work that failed. @throws the error of the last try, or the first error that does not justify another try */
export async function retried<Result>(
  work: () => Promise<Result>,
  { tries, firstWaitMs, isWorthIt, signal }: RetryOptions,
): Promise<Result> {
  for (let at = 1; ; at += 1) {
    try {
      return await work();
    } catch (error) {
      if (at === tries || !isWorthIt(error)) throw error;
      const wait = firstWaitMs * 2 ** (at - 1) * (0.5 + Math.random());
      await sleep(wait, undefined, { signal });
    }
  }
}
