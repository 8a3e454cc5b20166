import { setTimeout as sleep } from 'node:timers/promises';
import { type TestEnvironment, testEnvironment } from '../../../scripts/environment.ts';
import { startApi } from '../../../scripts/licenses-processes.ts';
import { freePorts } from '../../../scripts/ports.ts';
import { newApiKey } from '../../../src/access/api-keys.ts';
import { numberKey } from '../../../src/licenses/fold.ts';
import { apiClient } from '../api.ts';
import { eventually } from '../eventually.ts';
import { fixturesAnd, nurseRow, times } from '../fixtures.ts';
import { startProxy } from '../proxy.ts';
import { publishFiles } from '../publishing.ts';
import { rawRequest } from '../raw-http.ts';
import { HIGH_LIMITS } from '../service.ts';

const PLAIN = {
  ...HIGH_LIMITS,
  ...{ PUBLIC_URL: 'https://licenses.example', MCP_ALLOWED_HOSTS: 'licenses.example' },
  ...{ MCP_ALLOWED_ORIGINS: 'https://assistant.example', DRAIN_SECONDS: '30' },
  WEBHOOK_SECRET_KEY: 'a secret key of the tests, of 32 characters and more',
  WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
};
const LIMITED = {
  ...{ REST_REQUESTS_PER_MINUTE: '3', MCP_REQUESTS_PER_MINUTE: '2', WEB_REQUESTS_PER_MINUTE: '2' },
  TRUSTED_PROXIES: '1',
};

/**
 * Starts two services: one without a proxy and initially without a publication, and one with low limits behind one
 * proxy.
 */
export async function startTranscriptServices() {
  const environment = await testEnvironment();
  const { key } = await apiClient(environment);
  const values = { key, 'unknown key': newApiKey(environment.config.API_KEY_PREFIX) };
  let openSearch: 'answers' | 'hangs' | 'is away' = 'answers';
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, async ({ forward }) => {
    while (openSearch === 'hangs') await sleep(50);
    return openSearch === 'is away' ? undefined : forward();
  });

  const [port = 0, adminPort = 0, limitedPort = 0, limitedAdminPort = 0, closed = 0] = await freePorts(5);
  async function start(port: number, adminPort: number, settings: Record<string, string>) {
    const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
    const api = await startApi({ ...environment.variables, ...settings, ...ports });
    return { api, port, adminPort, values };
  }
  const [plain, limited] = await Promise.all([
    start(port, adminPort, { ...PLAIN, OPENSEARCH_URL: proxy.url }),
    // Counts in memory are exact. Counts in Redis would start again in memory if Redis is too slow once.
    start(limitedPort, limitedAdminPort, { ...LIMITED, REDIS_URL: `redis://127.0.0.1:${closed}` }),
  ]);

  const events = {
    'OpenSearch hangs': async () => {
      openSearch = 'hangs';
    },
    'OpenSearch is away': async () => {
      openSearch = 'is away';
      await untilReady(plain.adminPort, 503);
    },
    'OpenSearch is back': async () => {
      openSearch = 'answers';
      await untilReady(plain.adminPort, 200);
    },
    'the service is asked to stop': async () => {
      plain.api.child.kill('SIGTERM');
      await plain.api.printed('stopping; still answering');
    },
    'the service closes its port': async () => {
      plain.api.child.kill('SIGINT');
      const isAnswered = () => rawRequest(plain.port, '/').then(() => true);
      await eventually('the port is closed', async () => !(await isAnswered().catch(() => false)));
    },
  };
  return {
    plain: { ...plain, events: new Map(Object.entries(events)) },
    limited: { ...limited, events: new Map<string, () => Promise<void>>() },
    /** Publishes, and waits until both services answer lookups. */
    publish: async () => {
      await publish(environment);
      await Promise.all([plain, limited].map(({ adminPort }) => untilReady(adminPort, 200)));
    },
    stop: async () => {
      openSearch = 'is away';
      await Promise.all([plain, limited].map(({ api }) => api.stop()));
      await proxy.close();
      await environment.cleanUp();
    },
  };
}

const untilReady = (port: number, is: 200 | 503) =>
  eventually(`/readyz is ${is}`, async () => (await rawRequest(port, '/readyz')).status === is);

/** Publishes the fixtures, two licenses that match one number, eleven with the same name, and an unreadable one. */
async function publish(environment: TestEnvironment): Promise<void> {
  const { store, client, folder } = environment;
  const twins = [nurseRow('TWIN, DOT', 'RN.71.0001'), nurseRow('TWIN, NODOT', 'RN.710.001')];
  const many = times(11, (at) =>
    nurseRow(`MANY, GIVEN${at}`, `RN.${870_000 + at}`, at < 7 ? { PARCEL_CITY: 'AKRON' } : {}),
  );
  await publishFiles(environment, await fixturesAnd(folder, { individual: [...twins, ...many] }));
  const index = store.names.alias;
  await client.indices.putSettings({ index, body: { 'index.blocks.write': false } });
  const broken = { license_number: 'BROKEN.1', keys: { number: numberKey('BROKEN.1'), kind: 'person' } };
  await client.index({ index, body: broken, refresh: true });
}
