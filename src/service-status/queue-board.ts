import { hash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import ipaddr from 'ipaddr.js';
import compose from 'koa-compose';
import type { Middleware } from '../http/app.ts';
import { ClientError } from '../http/errors.ts';
import { under } from '../http/guard.ts';

const QUEUES_PATH = '/queues';
const REDIS_ANSWERS_WITHIN_MS = 3000;

/**
 * The dashboard of the publish queue: waiting, running and finished jobs, with progress. It is read-only: a job that is
 * retried, removed or added there would be a publication that the ledger does not know. It must be served on the admin
 * port only. While Redis does not answer, it responds with 503.
 *
 * @param open opens the queue when an operator first requests the page, because BullMQ, Bull Board and their
 * dependencies are 500 modules
 * @param password the password to send (HTTP Basic, any user name); without one, only requests from this machine are
 * answered
 */
export function queueBoard(open: () => Promise<Queue>, password: string | undefined): Middleware {
  let board: Promise<Middleware> | undefined;
  const page: Middleware = async (ctx, next) => {
    board ??= bullBoard(open);
    return (await board)(ctx, next);
  };
  return under(QUEUES_PATH, compose([operatorsOnly(password), shownOnly, page]));
}

async function bullBoard(open: () => Promise<Queue>): Promise<Middleware> {
  const [queue, { createBullBoard }, { BullMQAdapter }, { KoaAdapter }] = await Promise.all([
    open(),
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/koa'),
  ]);
  const serverAdapter = new KoaAdapter().setBasePath(QUEUES_PATH);
  createBullBoard({
    queues: [new BullMQAdapter(queue, { readOnlyMode: true })],
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Publications', hideDocsLink: true } },
  });
  return compose([whileRedisAnswers(queue), serverAdapter.registerPlugin()]);
}

function operatorsOnly(password: string | undefined): Middleware {
  return async (ctx, next) => {
    if (password === undefined) {
      const { remoteAddress = '' } = ctx.req.socket;
      const isKnown = ipaddr.isValid(remoteAddress);
      if (isKnown && ipaddr.process(remoteAddress).range() === 'loopback') return next();
      throw new ClientError(403, 'Only this machine sees the queue, unless QUEUE_BOARD_PASSWORD is set.');
    }
    if (isPassword(ctx.req.headers.authorization, password)) return next();
    ctx.set('www-authenticate', 'Basic realm="Publish queue", charset="UTF-8"');
    throw new ClientError(401, 'Send QUEUE_BOARD_PASSWORD as the password (HTTP Basic), with any user name.');
  };
}

/** Compares hashes in constant time. */
function isPassword(authorization: string | undefined, password: string): boolean {
  const [, encoded = ''] = /^Basic ([\w+/]+=*)$/i.exec(authorization ?? '') ?? [];
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  const sent = given.slice(given.indexOf(':') + 1);
  return timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', password, 'buffer'));
}

/** The page's loading indicator and its components use inline styles; its scripts are files. */
const OWN_HOST_ONLY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "object-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/**
 * Rejects every request that could change something, in case a route of the dashboard does not. The page links a style
 * sheet of a font host; the policy keeps browsers from contacting any other host.
 */
const shownOnly: Middleware = async (ctx, next) => {
  ctx.set('content-security-policy', OWN_HOST_ONLY);
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return next();
  ctx.set('allow', 'GET, HEAD');
  throw new ClientError(405, 'The queue is only shown here: GET and HEAD.');
};

/** Responds with 503 while Redis is down or too slow, because the queue's commands would wait for Redis forever. */
function whileRedisAnswers(queue: Queue): Middleware {
  return async (ctx, next) => {
    // The client exists once the first connection is made.
    const answered = queue.getBackend().connection.client.then(async ({ status }) => {
      if (status === 'ready') await next();
      return status === 'ready';
    });
    const tooLate = sleep(REDIS_ANSWERS_WITHIN_MS, false, { ref: false });
    if (await Promise.race([answered, tooLate])) return;
    ctx.status = 503;
    ctx.set('retry-after', '5');
    ctx.body = { detail: 'Redis does not answer, so the queue cannot be shown; try again shortly.' };
  };
}
