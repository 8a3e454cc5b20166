import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { notFound } from './app.ts';

const QUEUES_PATH = '/queues';
const REDIS_ANSWERS_WITHIN_MS = 3000;

/**
 * The board of the publish queue: what waits, runs and ended, with progress and log lines. It shows and changes
 * nothing: a job retried, removed or added there would be a publication that the ledger knows nothing of. It has
 * no login, so it belongs on the admin port alone. While Redis does not answer, neither does it (503).
 */
export async function queueBoard(admin: FastifyInstance, queue: Queue, log: Logger): Promise<void> {
  const adapter = new FastifyAdapter().setBasePath(QUEUES_PATH);
  createBullBoard({
    queues: [new BullMQAdapter(queue, { readOnlyMode: true })],
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Publications', hideDocsLink: true } },
  });
  logOutagesOnce(queue, log);
  await admin.register(
    async (board) => {
      keepToOwnHost(board);
      keepReadOnly(board);
      answerOnlyWithRedis(board, queue);
      board.setNotFoundHandler(notFound);
      await board.register(adapter.registerPlugin());
    },
    { prefix: QUEUES_PATH },
  );
}

function logOutagesOnce(queue: Queue, log: Logger): void {
  let isAway = false;
  queue.on('error', (error) => {
    if (!isAway) log.warn({ error: error.message }, 'Redis is away; the queue can not be shown');
    isAway = true;
  });
  queue.getBackend().on('ready', () => {
    isAway = false;
  });
}

/** The page's own loading sign and its components set styles in place; scripts are files. */
const OWN_HOST_ONLY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "object-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

const LINK_TO_OTHER_HOST = /<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>/g;

/** Keeps the page from asking any other host: it comes with a link to a font host, which no option removes. */
function keepToOwnHost(board: FastifyInstance): void {
  board.addHook('onRequest', async (_request, reply) => {
    reply.header('content-security-policy', OWN_HOST_ONLY);
  });
  board.addHook('onSend', async (_request, reply, payload) => {
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (!isPage || typeof payload !== 'string') return payload;
    const page = payload.replaceAll(LINK_TO_OTHER_HOST, '');
    reply.header('content-length', Buffer.byteLength(page));
    return page;
  });
}

/** Refuses whatever would change something, whichever of its routes the board forgets to. */
function keepReadOnly(board: FastifyInstance): void {
  board.addHook('onRequest', async ({ method }, reply) => {
    if (method === 'GET' || method === 'HEAD') return;
    return reply
      .code(405)
      .header('allow', 'GET, HEAD')
      .send({ detail: 'The queue is only shown here: GET and HEAD.' });
  });
}

/** Answers 503 while Redis is away or too slow; the queue's commands would wait for it without end. */
function answerOnlyWithRedis(board: FastifyInstance, queue: Queue): void {
  board.addHook('onRequest', async (_request, reply) => {
    const tooLate = setTimeout(() => answerAway(reply), REDIS_ANSWERS_WITHIN_MS);
    reply.raw.once('close', () => clearTimeout(tooLate));
    if (!(await isConnected(queue))) answerAway(reply);
  });
}

function answerAway(reply: FastifyReply): void {
  if (reply.sent) return;
  reply
    .code(503)
    .header('retry-after', '5')
    .send({ detail: 'Redis does not answer, so the queue can not be shown; try again shortly.' });
}

/** Whether commands would be sent now; before the first connection it waits for that. */
async function isConnected(queue: Queue): Promise<boolean> {
  const client = await queue.getBackend().connection.client;
  return client.status === 'ready';
}
