import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { keyCheck } from './access/api-keys.ts';
import { firstAnswers } from './access/first-answers.ts';
import { DAY_SECONDS, limitsConnection, rateLimits, withinGroup } from './access/rate-limit.ts';
import { keyUsage } from './access/usage.ts';
import { latestCursor } from './changes/feed.ts';
import { changesService } from './changes/service.ts';
import { type Config, readConfig } from './config.ts';
import { httpApp, type RequestState } from './http/app.ts';
import { close, httpServer, listen } from './http/connections.ts';
import { counted, routerOf } from './http/guard.ts';
import { openApiDocument } from './http/openapi.ts';
import { licenseExports } from './lookup/export.ts';
import { liveLookups } from './lookup/service.ts';
import { MCP_PATH, mcpEndpoint } from './mcp/endpoint.ts';
import { publicationHistory } from './publications/history.ts';
import { trackLivePublication } from './publications/live.ts';
import { liveFeed } from './publications/live-feed.ts';
import { savedRecords } from './records/saved-records.ts';
import { restApi, restRoutes } from './rest/routes.ts';
import { signingKeysRoute } from './rest/signing.ts';
import { liveRosters } from './rosters/service.ts';
import { adminApp, stateGauges } from './service-status/admin.ts';
import { queueBoard } from './service-status/queue-board.ts';
import { knownPublications, statusRoute } from './service-status/status.ts';
import { signingKeys } from './signing/keys.ts';
import { refusal, TooBusyError } from './storage/errors.ts';
import { openStore } from './storage/store.ts';
import { BAD_DOCUMENT } from './storage/stored.ts';
import { watchProofs } from './subscriptions/proof.ts';
import { subscriptionsService } from './subscriptions/service.ts';
import { subscriptionsTo } from './subscriptions/subscription.ts';
import { webhookService } from './subscriptions/webhook-service.ts';
import { metrics } from './telemetry/metrics.ts';
import { bufferedLog, endInOrder, endUnstarted } from './telemetry/process.ts';
import { docsRoutes } from './web/docs-page.ts';
import { website } from './web/routes.ts';

/** How many records one address may save on the website per minute. It is more than a person does by hand. */
export const SAVES_PER_MINUTE = 10;

/** How many test messages an account may send to its webhook per minute. */
export const WEBHOOK_TESTS_PER_MINUTE = 5;

/** How many Idempotency-Keys an account may use per day. There is a limit because each response is stored. */
export const IDEMPOTENCY_KEYS_PER_DAY = 1000;

const SEARCH_TIMEOUT_MS = 2500;
const STOP_WITHIN_MS = 10_000;

/** How many requests with a bad key one address may send per minute: a twentieth of its limit, but at least ten. */
export function badKeysPerMinute(config: Config): number {
  return Math.max(10, Math.floor(config.REST_REQUESTS_PER_MINUTE / 20));
}

/** The connections and services of a running API process. */
type Api = Awaited<ReturnType<typeof connect>>;

/**
 * Connects to OpenSearch and Redis. The process starts even if both are down: lookups then fail, and rate limits are
 * counted in memory.
 *
 * @param draining aborted when the process is asked to stop
 * @param stopping aborted when the process ends
 */
async function connect(config: Config, log: Logger, draining: AbortSignal, stopping: AbortSignal) {
  const store = openStore(config, SEARCH_TIMEOUT_MS, {
    triesOtherNodes: true,
    onBadDocument: (bad) => log.error(bad, BAD_DOCUMENT),
  });
  const redis = limitsConnection(config.REDIS_URL);
  redis.on('error', (error) => log.warn({ error: error.message }, 'Redis is away; limits count in memory'));
  const reasonOf = (error: unknown) => refusal(error, config) ?? String(error);
  const tracker = trackLivePublication(store, (error, meaning) =>
    log.warn({ error: reasonOf(error) }, meaning),
  );
  await tracker.refresh().catch((error: unknown) => {
    const isAway = refusal(error, config) === undefined;
    log.warn({ error: reasonOf(error) }, isAway ? 'OpenSearch is away' : 'OpenSearch cannot be used');
  });
  const usage = keyUsage(store, (error) =>
    log.warn({ error: String(error) }, 'counts of API keys cannot be written yet'),
  );
  const lookups = liveLookups(store, tracker, config.PUBLIC_URL);
  const rosters = liveRosters(lookups);
  const feed = () => liveFeed(store, tracker);
  const changes = changesService(store, feed, subscriptionsTo);
  const signing = signingKeys(store, config.SIGNING_SECRET_KEY);
  return {
    config,
    log,
    store,
    redis,
    limits: rateLimits(redis, config.INDEX_PREFIX, log),
    tracker,
    lookups,
    rosters,
    changes,
    exports: licenseExports(store.client, feed, lookups),
    records: savedRecords(store, {
      perDay: config.SAVED_RECORDS_PER_DAY,
      bytes: config.SAVED_RECORDS_MB * 1_000_000,
      sign: signing.sign,
    }),
    signing,
    proofOf: watchProofs(feed, { lookups, changes }),
    webhooks: webhookService(store, config, async () => latestCursor((await feed()).state)),
    usage,
    draining,
    stopping,
  };
}

/** The public app, with its middleware and interfaces in order. */
async function publicApp(api: Api): Promise<Koa<RequestState>> {
  const { config, log, store, tracker, lookups, rosters, changes, usage, signing } = api;
  const { limitOf } = api.limits;
  const { RATE_LIMIT_RANGES: ranges, MCP_RATE_LIMIT_RANGES: mcpRanges } = config;
  const restLimit = limitOf('rest', config.REST_REQUESTS_PER_MINUTE, ranges);
  const mcpLimit = limitOf('mcp', config.MCP_REQUESTS_PER_MINUTE, [...mcpRanges, ...ranges]);
  const badKeyLimit = limitOf('bad-keys', badKeysPerMinute(config));
  const savesPerDay = Math.max(1, Math.floor(config.SAVED_RECORDS_PER_DAY / 10));
  // Website visitors need no key. All visitors together may use only part of the limit, so that accounts can still save
  // records.
  const allSaves = limitOf('saves-a-day', Math.ceil(config.SAVED_RECORDS_PER_DAY / 2), [], DAY_SECONDS);
  const savesOf = (group: string) =>
    withinGroup(limitOf(`${group}-saves-a-day`, savesPerDay, [], DAY_SECONDS), allSaves, group);
  const keys = keyCheck(store, config.API_KEY_PREFIX);
  const access = { usage, keys, limit: restLimit, badKeyLimit };
  const idempotencyKeys = limitOf('idempotency-keys', IDEMPOTENCY_KEYS_PER_DAY, [], DAY_SECONDS);

  const cost = { limit: restLimit, itemsPerRequest: config.ROSTER_ITEMS_PER_REQUEST };
  const rest = restRoutes({
    ...api,
    rosters: rosters.withKey,
    cost,
    subscriptions: subscriptionsService(store),
    firstAnswers: firstAnswers(store, idempotencyKeys),
    exportsPerDay: limitOf('exports-a-day', config.EXPORTS_PER_DAY, [], DAY_SECONDS),
    savesPerDay: savesOf('rest'),
    webhookTests: limitOf('webhook-tests', WEBHOOK_TESTS_PER_MINUTE),
  });
  const publications = knownPublications(async () => (await publicationHistory(store)).publications);
  const status = statusRoute(tracker, publications);
  const docs = await docsRoutes(openApiDocument([...rest, status], config));
  const mcp = routerOf([]);
  mcp.all(
    MCP_PATH,
    counted('mcp', mcpLimit),
    mcpEndpoint(config, { lookups, rosters: rosters.withoutKey, changes }, mcpLimit, log),
  );

  const app = httpApp(log, api.draining, config.TRUSTED_PROXIES);
  app.use(restApi(rest, () => tracker.current()?.metadata.date, access));
  app.use(mcp.routes());
  app.use(
    await website({
      ...{ lookups, rosters: rosters.withoutKey, changes, records: api.records, publications, config },
      files: [status, signingKeysRoute(signing), ...docs],
      live: () => tracker.current(),
      limit: limitOf('web', config.WEB_REQUESTS_PER_MINUTE, ranges),
      saveLimits: { aMinute: limitOf('web-saves', SAVES_PER_MINUTE), aDay: savesOf('web') },
      endedWorkbooks: limitOf('ended-workbooks', 1),
    }),
  );
  return app;
}

/** Health, metrics and the queue's dashboard, on the admin port. */
function operatorApp(api: Api): Koa<RequestState> {
  const { config, log, tracker, lookups, rosters, limits, records, draining } = api;
  const readiness = async () => {
    const index = (await lookups.isAnswering()) ? tracker.current()?.index : undefined;
    // A process that was asked to stop is not ready, although it still answers requests.
    const ready = index !== undefined && !draining.aborted;
    return { ready, index: index ?? null, stopping: draining.aborted, problem: tracker.problem() };
  };
  const app = adminApp({ config, log, stopping: draining, readiness, metrics: () => metrics.metrics() });
  const openQueue = async () => (await import('./publications/job.ts')).publishQueue(config);
  app.use(queueBoard(openQueue, config.QUEUE_BOARD_PASSWORD));
  stateGauges(tracker, lookups, rosters.itemsInFlight, limits.isShared, records);
  return app;
}

/** The API process: REST, MCP and the website on one port, health and metrics on another. */
export async function serve(): Promise<void> {
  // By default, V8 would allocate the objects of a batch in the old generation, where only a major collection frees
  // them (docs/decisions/018).
  setFlagsFromString('--no-allocation-site-pretenuring');
  const config = readConfig();
  const lines = bufferedLog('api', config.LOG_LEVEL);
  const { log } = lines;
  const draining = new AbortController();
  const ending = new AbortController();
  const api = await connect(config, log, draining.signal, ending.signal);
  const server = httpServer(await publicApp(api), log);
  const adminServer = httpServer(operatorApp(api), log);
  const stop = endInOrder(log, {
    async close() {
      draining.abort();
      // An export may take longer than the process has left, so it is aborted.
      ending.abort(new TooBusyError('The process stops.'));
      await close(server);
      api.tracker.stop();
      await Promise.all([close(adminServer), api.usage.stop()]);
      api.redis.disconnect();
      await api.store.client.close();
    },
    withinMs: STOP_WITHIN_MS,
    late: 'API not stopped in order, as where a client keeps a connection busy; it ends',
    writeLog: lines.end,
  });
  await listen(server, config.HOST, config.PORT);
  await listen(adminServer, config.ADMIN_HOST, config.ADMIN_PORT);
  log.info({ host: config.HOST, port: config.PORT, adminPort: config.ADMIN_PORT }, 'API ready');

  /** Makes `/readyz` fail while requests are still answered, so that load balancers notice. Then the process stops. */
  async function drain(): Promise<void> {
    if (draining.signal.aborted) return;
    draining.abort();
    log.info({ seconds: config.DRAIN_SECONDS }, 'stopping; still answering');
    await sleep(config.DRAIN_SECONDS * 1000);
    await stop();
  }

  process.once('SIGTERM', drain);
}

if (import.meta.main) await serve().catch(endUnstarted);
