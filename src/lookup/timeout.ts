import { SearchUnavailableError } from '../storage/errors.ts';

/** Fails when the work takes too long. The work itself is not stopped; its requests have their own timeouts. */
export function withTimeout<Result>(work: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new SearchUnavailableError('OpenSearch did not answer in time')),
      ms,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
