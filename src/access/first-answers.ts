import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DAY_MS } from '../licenses/dates.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { collection } from '../storage/collection.ts';
import { TooBusyError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';

const answer = z.object({ status: z.int(), type: z.string(), body: z.string() });

type Answer = Readonly<z.output<typeof answer>>;

/**
 * A request with an Idempotency-Key: when it began (ISO 8601) and the hash of its body; until it has ended, its token, and
 * then its answer.
 */
const firstAnswer = z.object({
  ...{ at: z.iso.datetime(), sha256: z.string(), token: z.string().optional() },
  answer: answer.optional(),
});

/** The first answers, under a hash of account, operation and key. */
export const FIRST_ANSWERS = collection('firstAnswers', firstAnswer);

/** A request that has no answer after this time was broken off, as by the end of its process. */
const UNDER_WAY_MS = 30_000;

/** A request with an Idempotency-Key. Each operation has keys of its own; the body is as it was sent. */
type KeyedRequest = Readonly<Record<'account' | 'operation' | 'key' | 'body', string>>;

/** Does requests with an Idempotency-Key. */
export type FirstAnswers = ReturnType<typeof firstAnswers>;

/**
 * Does a request once, and answers its repetitions of a day with the first answer. Only a success is kept: after any
 * other answer nothing was done, and the request is done again. So it is where its process ended before it was answered:
 * then `work` gets the same token, which is random, and can see what it did the first time.
 *
 * @throws {BadRequestError} where the key came with another body before
 * @throws {TooBusyError} while the first request is under way
 * @throws {TooManyRequestsError} for too many keys in a day
 * @param perDay how many keys an account may use in a day, since their answers are stored
 */
export function firstAnswers(store: Store, perDay: { spend(account: string): Promise<unknown> }) {
  return async (
    { account, operation, key, body }: KeyedRequest,
    work: (token: string) => Promise<Answer>,
  ): Promise<Answer> => {
    const id = hash('sha256', JSON.stringify([account, operation, key]));
    const sha256 = hash('sha256', body);
    const found = await FIRST_ANSWERS.read(store, id);
    const ageMs = Date.now() - Date.parse(found?.document.at ?? '');
    const first = ageMs < DAY_MS ? found?.document : undefined;
    const isUnderWay = first?.answer === undefined && ageMs < UNDER_WAY_MS;
    if ((isUnderWay || first?.answer !== undefined) && first?.sha256 !== sha256)
      throw new BadRequestError('This Idempotency-Key came with another body before. Send another key.');
    if (first?.answer !== undefined) return first.answer;
    if (isUnderWay) throw new TooBusyError(UNDER_WAY);
    await perDay.spend(account);
    const token = (first?.sha256 === sha256 && first.token) || randomUUID();
    const begun = { at: new Date().toISOString(), sha256 };
    const claim = { ...begun, token };
    if (!(await FIRST_ANSWERS.replace(store, id, found?.version, claim))) throw new TooBusyError(UNDER_WAY);
    const answered = await work(token).catch(async (error: unknown) => {
      await FIRST_ANSWERS.remove(store, id);
      throw error;
    });
    const kept =
      answered.status < 300
        ? FIRST_ANSWERS.put(store, id, { ...begun, answer: answered })
        : FIRST_ANSWERS.remove(store, id);
    // What was done is said even if OpenSearch went away since: an error would make the client do it twice.
    await kept.catch(() => undefined);
    return answered;
  };
}

const UNDER_WAY = 'The first request with this Idempotency-Key is under way.';

export function deleteExpiredAnswers(store: Store): Promise<void> {
  const dayAgo = new Date(Date.now() - DAY_MS).toISOString();
  return FIRST_ANSWERS.removeWhere(store, { range: { at: { lt: dayAgo } } });
}
