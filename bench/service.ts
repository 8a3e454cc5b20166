import { type TestEnvironment, testEnvironment } from '../scripts/environment.ts';
import { freePort } from '../scripts/ports.ts';
import { type Services, startServices } from '../scripts/services.ts';
import { createKey } from '../src/access/api-keys.ts';
import type { Config } from '../src/config.ts';
import type { Store } from '../src/storage/store.ts';
import { prepareIndices } from '../src/storage/templates.ts';

const NO_LIMIT = '1000000000';
const NO_LIMITS = {
  REST_REQUESTS_PER_MINUTE: NO_LIMIT,
  MCP_REQUESTS_PER_MINUTE: '100000000',
  // A range with a higher limit may have more requests in progress.
  MCP_RATE_LIMIT_RANGES: `127.0.0.0/8=${NO_LIMIT}`,
  WEB_REQUESTS_PER_MINUTE: NO_LIMIT,
};

/** For requests over millions of rows. */
export const REQUEST_MS = 600_000;

/** Starts OpenSearch and Redis unless they run, and measures in an environment of its own, which is removed. */
export async function withEnvironment(work: (environment: TestEnvironment) => Promise<void>): Promise<void> {
  const services = await startServices({}, (line) => process.stderr.write(`${line}\n`));
  process.env.OPENSEARCH_URL = services.opensearch;
  process.env.REDIS_URL = services.redis;
  try {
    const environment = await testEnvironment(NO_LIMITS, { requestMs: REQUEST_MS });
    try {
      await prepareIndices(environment.store);
      await work(environment);
    } finally {
      await environment.cleanUp();
    }
  } finally {
    await services.stop();
  }
}

/** The settings of a service whose indices stay for later measurements: ports of its own, no limit ever reached. */
export async function serviceVariables(services: Services, indexPrefix: string) {
  return {
    ...NO_LIMITS,
    OPENSEARCH_URL: services.opensearch,
    REDIS_URL: services.redis,
    INDEX_PREFIX: indexPrefix,
    PORT: String(await freePort()),
    ADMIN_PORT: String(await freePort()),
    DRAIN_SECONDS: '0',
  };
}

/** A key for the measurement's requests. */
export async function benchKey(store: Store, config: Config): Promise<string> {
  const { key } = await createKey(store, config.API_KEY_PREFIX, {
    account: 'Bench',
    verifiedBy: 'the measurement',
  });
  return key;
}
