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
 * A request with an Idempotency-Key: its start (ISO 8601) and the hash of its body. While the request runs, the
 * document also has its token; afterwards it has the response instead.
 */
const firstAnswer = z.object({
  ...{ at: z.iso.datetime(), sha256: z.string(), token: z.string().optional() },
  answer: answer.optional(),
});

/** The first responses. The id of each is a hash of account, operation and key. */
export const FIRST_ANSWERS = collection('firstAnswers', firstAnswer);

/** A request without a response after this time is considered interrupted, for example by the end of its process. */
const UNDER_WAY_MS = 30_000;

/** A request with an Idempotency-Key. Keys of different operations are independent. `body` is the body as sent. */
type KeyedRequest = Readonly<Record<'account' | 'operation' | 'key' | 'body', string>>;

export type FirstAnswers = ReturnType<typeof firstAnswers>;

/**
 * Runs a request once, and answers its repetitions within a day with the first response. Only a successful response is
 * stored. After any other response nothing was done, so a repetition runs the request again. A repetition also runs it
 * again if the process ended before it responded: `work` then gets the same random token and can find what the first
 * run did.
 *
 * @throws {BadRequestError} when the key was used before with another body
 * @throws {TooBusyError} while the first request is still running
 * @throws {TooManyRequestsError} for too many keys in a day
 * @param perDay limits how many keys an account may use in a day, since the responses are stored
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
    // Report the success even if OpenSearch went down since then: after an error the client would repeat the request.
    await kept.catch(() => undefined);
    return answered;
  };
}

const UNDER_WAY = 'The first request with this Idempotency-Key is under way.';

export function deleteExpiredAnswers(store: Store): Promise<void> {
  const dayAgo = new Date(Date.now() - DAY_MS).toISOString();
  return FIRST_ANSWERS.removeWhere(store, { range: { at: { lt: dayAgo } } });
}
