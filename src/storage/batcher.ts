/** More is asked than can be answered in time. */
export class TooBusyError extends Error {}

/** Whoever has waited as long for a turn has given up or soon will. */
const WAITS_AT_MOST_MS = 2000;

/** How requests are shared. */
interface Sharing {
  /** The most that one request carries. */
  readonly most: number;
  /** How many requests may be under way at once; what comes meanwhile shares the next. */
  readonly atOnce: number;
}

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly since: number;
  readonly resolve: (answer: Answer | PromiseLike<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets those who ask at the same moment, or while `atOnce` requests are under way, share one request. Nobody waits
 * for company: a request leaves as soon as the process has taken in what has arrived. What has waited for its turn
 * for two seconds is refused with `TooBusyError` in place of being asked, so that no line builds up behind a slow
 * answer.
 *
 * @param request answers each of the asks, in their order, or fails it by a promise; when the request itself fails,
 * all that shared it fail with its error
 */
export function sharedRequests<Ask, Answer>(
  request: (asks: readonly Ask[]) => Promise<readonly (Answer | PromiseLike<Answer>)[]>,
  { most, atOnce }: Sharing,
): (ask: Ask) => Promise<Answer> {
  let waiting: Waiting<Ask, Answer>[] = [];
  let underWay = 0;
  let isDue = false;

  function schedule(): void {
    if (isDue || waiting.length === 0 || underWay >= atOnce) return;
    isDue = true;
    setImmediate(send);
  }

  function refuseLate(): void {
    const inTime = performance.now() - WAITS_AT_MOST_MS;
    const first = waiting.findIndex(({ since }) => since >= inTime);
    const refused = waiting.splice(0, first < 0 ? waiting.length : first);
    for (const { reject } of refused) reject(new TooBusyError('It waited too long for its turn.'));
  }

  async function send(): Promise<void> {
    refuseLate();
    const together = waiting.slice(0, most);
    waiting = waiting.slice(most);
    isDue = false;
    if (together.length === 0) return;
    underWay += 1;
    schedule();
    try {
      const answers = await request(together.map(({ ask }) => ask));
      if (answers.length !== together.length) throw new Error('Not every ask was answered.');
      for (const [at, answer] of answers.entries()) together[at]?.resolve(answer);
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
    underWay -= 1;
    schedule();
  }

  return (ask) =>
    new Promise((resolve, reject) => {
      waiting.push({ ask, since: performance.now(), resolve, reject });
      schedule();
    });
}
