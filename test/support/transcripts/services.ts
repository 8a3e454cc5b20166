import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestEnvironment, testEnvironment } from '../../../scripts/environment.ts';
import { startScript } from '../../../scripts/licenses-processes.ts';
import { freePorts } from '../../../scripts/ports.ts';
import type { RunningProcess } from '../../../scripts/processes.ts';
import { createKey, revokeKey } from '../../../src/access/api-keys.ts';
import { newApiKey } from '../../../src/access/key-format.ts';
import { numberKey } from '../../../src/licenses/number.ts';
import { apiClient } from '../api.ts';
import { fixturesAnd, nurseRow } from '../fixtures.ts';
import { startProxy } from '../proxy.ts';
import { publishFiles } from '../publishing.ts';
import { rawRequest } from '../raw-http.ts';
import type { Stage } from './play.ts';
import type { Values } from './request-bytes.ts';

/** A service, for clients of any address. */
export type ServiceStage = Omit<Stage, 'localAddress'>;

/** The services that the transcripts are about. */
export interface TranscriptServices {
  readonly stages: {
    /** Limits that nobody reaches, no proxy before it. */
    readonly plain: ServiceStage;
    /** Low limits, behind one proxy. */
    readonly limited: ServiceStage;
    readonly withoutOpenSearch: ServiceStage;
    /** Nothing is published, and Redis is away. */
    readonly empty: ServiceStage;
    readonly stopping: ServiceStage;
  };
  stop(): Promise<void>;
}

const VERIFY = '/api/v1/lookup/verify';
const HIGH_LIMITS = {
  REST_REQUESTS_PER_MINUTE: '1000000',
  MCP_REQUESTS_PER_MINUTE: '1000000',
  WEB_REQUESTS_PER_MINUTE: '1000000',
};
const LOW_LIMITS = {
  REST_REQUESTS_PER_MINUTE: '3',
  MCP_REQUESTS_PER_MINUTE: '2',
  WEB_REQUESTS_PER_MINUTE: '2',
};
const MCP_NAMES = {
  MCP_ALLOWED_HOSTS: 'licenses.example',
  MCP_ALLOWED_ORIGINS: 'https://assistant.example',
};

/** Starts all of them; what was started is stopped again where one can't be. */
export async function startTranscriptServices(): Promise<TranscriptServices> {
  const environment = await testEnvironment({ ...HIGH_LIMITS, ...MCP_NAMES });
  const [closed = 0] = await freePorts(1);
  const bare = await testEnvironment({ ...HIGH_LIMITS, REDIS_URL: `redis://127.0.0.1:${closed}` });
  const proxy = await openSearchWithFaults(environment.config.OPENSEARCH_URL);
  const running: RunningProcess[] = [];

  async function stop(): Promise<void> {
    await Promise.all(running.map((api) => api.stop()));
    await proxy.close();
    await Promise.all([environment.cleanUp(), bare.cleanUp()]);
  }

  async function started(inEnvironment: TestEnvironment, settings: Record<string, string> = {}) {
    const [port = 0, adminPort = 0] = await freePorts(2);
    const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
    const api = startScript('src/server.ts', { ...inEnvironment.variables, ...settings, ...ports });
    running.push(api);
    await api.printed('API ready');
    return { api, port, adminPort, events: {} };
  }

  try {
    await publish(environment);
    // One after the other: all at once, each takes longer than a process may on a busy machine.
    const plain = await started(environment);
    const limited = await started(environment, { ...LOW_LIMITS, TRUSTED_PROXIES: '1' });
    const withoutOpenSearch = await started(environment, { OPENSEARCH_URL: proxy.url });
    const stopping = await started(environment, { DRAIN_SECONDS: '30' });
    const empty = await started(bare);
    const values = await keysOf(environment);
    await Promise.all([plain, limited, withoutOpenSearch, stopping].map((each) => warmUp(each, values)));
    return {
      stages: {
        plain: { ...plain, values },
        limited: { ...limited, values },
        withoutOpenSearch: { ...withoutOpenSearch, values, events: proxy.events },
        stopping: { ...stopping, values, events: stopEvents(stopping.api, stopping.port) },
        empty: { ...empty, values: await keysOf(bare) },
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const WARM_WITHIN_MS = 30_000;

/** Asks until a lookup is answered: the first ones of a process may take too long on a busy machine. */
async function warmUp({ port }: { port: number }, { key = '' }: Values): Promise<void> {
  const deadline = Date.now() + WARM_WITHIN_MS;
  for (let tries = 1; ; tries += 1) {
    const body = '{"board":"Nursing Board","license_number":"RN.700002"}';
    const headers = {
      ...{ 'x-api-key': key, 'content-type': 'application/json', 'content-length': String(body.length) },
      'x-forwarded-for': `198.20.0.${tries}`,
    };
    const { status } = await rawRequest({ port, method: 'POST', path: VERIFY, headers, body });
    if (status === 200) return;
    if (Date.now() > deadline) throw new Error(`Lookups are still answered with ${status}.`);
  }
}

/** Publishes the fixtures, two licenses that one number fits, and one that can't be read. */
async function publish(environment: TestEnvironment): Promise<void> {
  const { store, client, folder } = environment;
  const twins = [nurseRow('TWIN, DOT', 'RN.71.0001'), nurseRow('TWIN, NODOT', 'RN.710.001')];
  await publishFiles(environment, await fixturesAnd(folder, { individual: twins }));
  const index = store.names.alias;
  await client.indices.putSettings({ index, body: { 'index.blocks.write': false } });
  const broken = { license_number: 'BROKEN.1', keys: { number: numberKey('BROKEN.1'), kind: 'person' } };
  await client.index({ index, body: broken, refresh: true });
}

async function keysOf(environment: TestEnvironment): Promise<Values> {
  const { store, config } = environment;
  const { key } = await apiClient(environment);
  const { key: unused } = await apiClient(environment);
  const revoked = await createKey(store, config.API_KEY_PREFIX, {
    account: 'Revoked',
    verifiedBy: 'the tests',
  });
  await revokeKey(store, revoked.stored.id);
  return {
    key,
    'unused key': unused,
    'revoked key': revoked.key,
    'unknown key': newApiKey(config.API_KEY_PREFIX),
    'mistyped key': key.slice(0, -1) + (key.endsWith('0') ? '1' : '0'),
    'key of another prefix': newApiKey('abc'),
  };
}

async function openSearchWithFaults(url: string) {
  let mode: 'answers' | 'hangs' | 'away' = 'answers';
  const proxy = await startProxy(url, async ({ forward }) => {
    while (mode === 'hangs') await sleep(50);
    return mode === 'away' ? undefined : forward();
  });
  return {
    url: proxy.url,
    events: {
      'OpenSearch hangs': async () => {
        mode = 'hangs';
      },
      'OpenSearch is away': async () => {
        mode = 'away';
      },
    },
    close: () => {
      mode = 'away';
      return proxy.close();
    },
  };
}

function stopEvents(api: RunningProcess, port: number) {
  return {
    'the service is asked to stop': async () => {
      api.child.kill('SIGTERM');
      await api.printed('stopping; still answering');
    },
    'the service closes its port': async () => {
      api.child.kill('SIGINT');
      while (await isListening(port)) await sleep(20);
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((told) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => told(true)).once('error', () => told(false));
    socket.once('connect', () => socket.destroy());
  });
}
