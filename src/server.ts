import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { keyCheck } from './access/api-keys.ts';
import { authenticated } from './access/authenticate.ts';
import { keyUsage } from './access/key-usage.ts';
import { limited, limitsConnection, rateLimit } from './access/rate-limit.ts';
import { type Config, ConfigError, type RateLimitRange, readConfig } from './config.ts';
import { adminRoutes, stateGauges } from './http/admin.ts';
import { httpApp, notFound } from './http/app.ts';
import { countedAs } from './http/counted.ts';
import { docsRoutes } from './http/docs.ts';
import { pageRoutes } from './http/pages.ts';
import { queueBoard } from './http/queue-board.ts';
import { statusRoute } from './http/status.ts';
import { liveLookups } from './lookups.ts';
import { MCP_PATH, mcpRoutes } from './mcp/endpoint.ts';
import { publicationHistory } from './publications/history.ts';
import { publishQueue } from './publications/job.ts';
import { trackLivePublication } from './publications/live.ts';
import { openApiDocument } from './rest/openapi.ts';
import { REST_PATH, restRoutes } from './rest/routes.ts';
import { openSearchClient } from './search/client.ts';

const SEARCH_TIMEOUT_MS = 2500;
const STOP_WITHIN_MS = 10_000;
const QUEUE_CLOSES_WITHIN_MS = 1000;

/**
 * Log lines are written together, at the latest after half a second and when the process ends. Where nobody reads
 * them, 16 MB are kept and the rest is lost.
 */
const LOG_BUFFER = {
  dest: 1,
  sync: false,
  minLength: 8192,
  periodicFlush: 500,
  maxLength: 16 * 1024 * 1024,
} as const;
const LOG_ENDS_WITHIN_MS = 1000;

/** Of an address's requests in a minute, how many may come with a bad key: a twentieth, at least ten. */
function badKeysPerMinute(config: Config): number {
  return Math.max(10, Math.floor(config.REST_REQUESTS_PER_MINUTE / 20));
}

/** The API process: REST, MCP and the status page on one port, health on another. */
export async function serve(): Promise<void> {
  const config = readConfig();
  const logLines = pino.destination(LOG_BUFFER);
  const log = pino({ level: config.LOG_LEVEL, name: 'api' }, logLines);
  const client = openSearchClient(config, SEARCH_TIMEOUT_MS, { asksOthers: true });
  const redis = limitsConnection(config.REDIS_URL);
  redis.on('error', (error) => log.warn({ error: error.message }, 'Redis is away; limits count in memory'));
  const tracker = trackLivePublication(client, config.INDEX_PREFIX, (error) =>
    log.warn({ error: String(error) }, 'the live publication can not be read; the last known one answers'),
  );
  const lookups = liveLookups(client, tracker);
  await tracker.refresh().catch((error: unknown) => log.warn({ error: String(error) }, 'OpenSearch is away'));

  const limitOf = (name: string, requestsPerMinute: number, ranges: readonly RateLimitRange[]) =>
    rateLimit(redis, `${config.INDEX_PREFIX}${name}`, requestsPerMinute, ranges);
  const { RATE_LIMIT_RANGES: ranges, MCP_RATE_LIMIT_RANGES: mcpRanges } = config;
  const restLimit = limitOf('rest', config.REST_REQUESTS_PER_MINUTE, ranges);
  const mcpLimit = limitOf('mcp', config.MCP_REQUESTS_PER_MINUTE, [...mcpRanges, ...ranges]);
  const badKeyLimit = limitOf('bad-keys', badKeysPerMinute(config), []);
  const keys = keyCheck(client, config.INDEX_PREFIX, config.API_KEY_PREFIX);
  const usage = keyUsage(client, config.INDEX_PREFIX, (error) =>
    log.warn({ error: String(error) }, 'counts of API keys can not be written yet'),
  );

  let isStopping = false;
  const app = httpApp(log, config.TRUSTED_PROXIES);
  app.addHook('onRequest', (_request, reply, done) => {
    if (isStopping) reply.header('connection', 'close');
    done();
  });
  await app.register(
    async (rest) => {
      rest.addHook('onRequest', limited(restLimit));
      rest.addHook('onRequest', authenticated(keys, restLimit, badKeyLimit));
      rest.addHook('onResponse', countedAs('rest', usage));
      rest.setNotFoundHandler(notFound);
      restRoutes(rest, lookups);
    },
    { prefix: REST_PATH },
  );
  await app.register(
    async (mcp) => {
      mcp.addHook('onRequest', limited(mcpLimit));
      mcp.addHook('onResponse', countedAs('mcp', usage));
      await mcpRoutes(mcp, config, lookups, log);
    },
    { prefix: MCP_PATH },
  );
  pageRoutes(app, tracker);
  statusRoute(app, tracker, async () => (await publicationHistory(client, config.INDEX_PREFIX)).publications);
  await docsRoutes(app, openApiDocument());

  const queue = publishQueue(config);
  const admin = httpApp(log);
  adminRoutes(admin, client, config.INDEX_PREFIX, () => isStopping);
  stateGauges(tracker, lookups, () => redis.status === 'ready');
  await queueBoard(admin, queue, log);

  await listen(app, config.HOST, config.PORT);
  await listen(admin, '127.0.0.1', config.ADMIN_PORT);
  log.info({ host: config.HOST, port: config.PORT, adminPort: config.ADMIN_PORT }, 'API ready');

  /** Says that it is stopping and goes on answering, until whoever sends requests has noticed. */
  async function drain(): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    log.info({ seconds: config.DRAIN_SECONDS }, 'stopping; still answering');
    await sleep(config.DRAIN_SECONDS * 1000);
    await stop();
  }

  async function stop(): Promise<void> {
    isStopping = true;
    setTimeout(() => {
      logLines.destroy();
      process.exit(1);
    }, STOP_WITHIN_MS).unref();
    await app.close();
    tracker.stop();
    await Promise.all([admin.close(), usage.stop()]);
    redis.disconnect();
    // A Redis that is stuck would never answer the goodbye.
    await Promise.race([queue.close(), sleep(QUEUE_CLOSES_WITHIN_MS)]);
    await client.close();
    // What is left in the buffer when the process exits is written again and again until somebody reads it.
    await Promise.race([
      new Promise<void>((resolve) => logLines.flush(() => resolve())),
      sleep(LOG_ENDS_WITHIN_MS),
    ]);
    logLines.destroy();
    process.exit(0);
  }
  process.once('SIGTERM', drain);
  process.once('SIGINT', stop);
}

/** @throws {Error} naming the port when it is taken */
async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new Error(`Can't listen on ${host}:${port}: ${error instanceof Error ? error.message : error}`);
  }
}

if (import.meta.main) {
  try {
    await serve();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
