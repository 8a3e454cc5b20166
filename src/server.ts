import { setTimeout as sleep } from 'node:timers/promises';
import compose from 'koa-compose';
import { pino } from 'pino';
import { keyCheck } from './access/key-check.ts';
import { keyUsage } from './access/key-usage.ts';
import { limitsConnection, rateLimit } from './access/rate-limit.ts';
import { type Config, ConfigError, type RateLimitRange, readConfig } from './config.ts';
import { adminRoutes, stateGauges } from './http/admin.ts';
import { close, httpApp, httpServer, listen, under } from './http/app.ts';
import { authenticated } from './http/authenticate.ts';
import { docsRoutes } from './http/docs.ts';
import { limited } from './http/limit.ts';
import { openApiDocument } from './http/openapi.ts';
import { frontPageRoute } from './http/pages.ts';
import { httpsOnly } from './http/proxies.ts';
import { queueBoard } from './http/queue-board.ts';
import { counted } from './http/request-metrics.ts';
import { routerOf } from './http/route.ts';
import { statusRoute } from './http/status.ts';
import { liveLookups } from './lookup/service.ts';
import { MCP_PATH, mcpEndpoint } from './mcp/endpoint.ts';
import { publicationHistory } from './publications/history.ts';
import { publishQueue } from './publications/job.ts';
import { trackLivePublication } from './publications/live.ts';
import { REST_PATH } from './rest/base-path.ts';
import { restRoutes } from './rest/routes.ts';
import { openStore } from './storage/store.ts';

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
  const store = openStore(config, SEARCH_TIMEOUT_MS, { asksOthers: true });
  const redis = limitsConnection(config.REDIS_URL);
  redis.on('error', (error) => log.warn({ error: error.message }, 'Redis is away; limits count in memory'));
  const tracker = trackLivePublication(store, (error) =>
    log.warn({ error: String(error) }, 'the live publication can not be read; the last known one answers'),
  );
  const lookups = liveLookups(store.client, tracker);
  await tracker.refresh().catch((error: unknown) => log.warn({ error: String(error) }, 'OpenSearch is away'));

  const limitOf = (name: string, requestsPerMinute: number, ranges: readonly RateLimitRange[]) =>
    rateLimit(redis, `${config.INDEX_PREFIX}${name}`, requestsPerMinute, ranges);
  const { RATE_LIMIT_RANGES: ranges, MCP_RATE_LIMIT_RANGES: mcpRanges } = config;
  const restLimit = limitOf('rest', config.REST_REQUESTS_PER_MINUTE, ranges);
  const mcpLimit = limitOf('mcp', config.MCP_REQUESTS_PER_MINUTE, [...mcpRanges, ...ranges]);
  const badKeyLimit = limitOf('bad-keys', badKeysPerMinute(config), []);
  const keys = keyCheck(store, config.API_KEY_PREFIX);
  const usage = keyUsage(store, (error) =>
    log.warn({ error: String(error) }, 'counts of API keys can not be written yet'),
  );

  let isStopping = false;
  const publications = async () => (await publicationHistory(store)).publications;
  const rest = restRoutes(lookups);
  const status = statusRoute(tracker, publications);
  const docs = await docsRoutes(openApiDocument([...rest, status], config));
  const router = routerOf([status, frontPageRoute(tracker), ...docs]);
  router.all(MCP_PATH, counted('mcp', usage), limited(mcpLimit), mcpEndpoint(config, lookups, log));

  const app = httpApp({ log, trustedProxies: config.TRUSTED_PROXIES, isStopping: () => isStopping });
  app.use(
    under(
      REST_PATH,
      compose([
        counted('rest', usage),
        limited(restLimit),
        httpsOnly(log),
        authenticated(keys, restLimit, badKeyLimit),
        routerOf(rest).routes(),
      ]),
    ),
  );
  app.use(router.routes());

  const queue = publishQueue(config);
  const admin = httpApp({ log, isStopping: () => isStopping });
  admin.use(routerOf(adminRoutes(store, () => isStopping)).routes());
  admin.use(queueBoard(queue, config.QUEUE_BOARD_PASSWORD, log));
  stateGauges(tracker, lookups, () => redis.status === 'ready');

  const server = httpServer(app);
  const adminServer = httpServer(admin);
  await listen(server, config.HOST, config.PORT);
  await listen(adminServer, config.ADMIN_HOST, config.ADMIN_PORT);
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
    await close(server);
    tracker.stop();
    await Promise.all([close(adminServer), usage.stop()]);
    redis.disconnect();
    // A Redis that is stuck would never answer the goodbye.
    await Promise.race([queue.close(), sleep(QUEUE_CLOSES_WITHIN_MS)]);
    await store.client.close();
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

if (import.meta.main) {
  try {
    await serve();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
