import { freePort } from '../scripts/ports.ts';
import type { Services } from '../scripts/services.ts';
import { createKey } from '../src/access/api-keys.ts';
import type { Config } from '../src/config.ts';
import type { Store } from '../src/storage/store.ts';

const NO_LIMIT = '1000000000';

/** The settings of a service that is measured: ports of its own and no limit that is ever reached. */
export async function serviceVariables(services: Services, indexPrefix: string) {
  return {
    OPENSEARCH_URL: services.opensearch,
    REDIS_URL: services.redis,
    INDEX_PREFIX: indexPrefix,
    PORT: String(await freePort()),
    ADMIN_PORT: String(await freePort()),
    REST_REQUESTS_PER_MINUTE: NO_LIMIT,
    MCP_REQUESTS_PER_MINUTE: NO_LIMIT,
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
