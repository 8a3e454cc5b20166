import { access, readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { readConfig, SETTING_NAMES } from '../../src/config.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = resolve(ROOT, 'deploy/kubernetes');

/** How long each process takes at most to stop, in seconds, after the API's DRAIN_SECONDS. */
const STOPS_WITHIN = { api: 10, worker: 20 } as const;

/** How long the worker's /readyz may take, in seconds. */
const READY_WITHIN = 3;

const USUAL_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'redis:': 6379,
  'rediss:': 6379,
};

const labels = z.record(z.string(), z.string());
const selector = z.object({ matchLabels: labels });
const named = z.object({ name: z.string() });
const metadata = z.object({ name: z.string(), namespace: z.string().optional(), labels: labels.default({}) });

const probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  periodSeconds: z.number(),
  timeoutSeconds: z.number().default(1),
  failureThreshold: z.number().default(3),
});

const container = z.object({
  name: z.string(),
  image: z.string(),
  command: z.tuple([z.literal('node'), z.string()]),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  envFrom: z.array(z.union([z.object({ configMapRef: named }), z.object({ secretRef: named })])),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.string() }),
  }),
  securityContext: z.unknown(),
  volumeMounts: z.array(
    z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().default(false) }),
  ),
});

const pod = z.object({
  automountServiceAccountToken: z.boolean(),
  enableServiceLinks: z.boolean(),
  terminationGracePeriodSeconds: z.number(),
  topologySpreadConstraints: z.array(z.object({ labelSelector: selector })).default([]),
  securityContext: z.unknown(),
  initContainers: z.never().optional(),
  hostNetwork: z.never().optional(),
  containers: z.tuple([container]),
  volumes: z.array(
    z.object({ name: z.string(), emptyDir: z.object({ sizeLimit: z.string() }).optional() }).loose(),
  ),
});

const policyPeer = z.object({ namespaceSelector: selector.optional() }).loose();
const policyPorts = z.array(z.object({ protocol: z.enum(['TCP', 'UDP']), port: z.number() }));

const namespace = z.object({ kind: z.literal('Namespace'), metadata });
const configMap = z.object({ kind: z.literal('ConfigMap'), metadata, data: labels });
const secret = z.object({ kind: z.literal('Secret'), metadata, stringData: labels });
const deployment = z.object({
  kind: z.literal('Deployment'),
  metadata,
  spec: z.object({
    replicas: z.number(),
    strategy: z.object({ type: z.string() }),
    selector,
    template: z.object({ metadata: z.object({ labels }), spec: pod }),
  }),
});
const service = z.object({
  kind: z.literal('Service'),
  metadata,
  spec: z.object({
    selector: labels,
    ports: z.array(z.object({ name: z.string(), port: z.number(), targetPort: z.string() })),
  }),
});
const disruptionBudget = z.object({
  kind: z.literal('PodDisruptionBudget'),
  metadata,
  spec: z.object({ minAvailable: z.number(), selector }),
});
const networkPolicy = z.object({
  kind: z.literal('NetworkPolicy'),
  metadata,
  spec: z.object({
    podSelector: z.object({ matchLabels: labels.default({}) }),
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z.array(z.object({ from: z.array(policyPeer).min(1), ports: policyPorts.min(1) })).default([]),
    egress: z.array(z.object({ to: z.array(policyPeer).optional(), ports: policyPorts.min(1) })).default([]),
  }),
});
const backend = z.object({ service: z.object({ name: z.string(), port: named }) });
const ingress = z.object({
  kind: z.literal('Ingress'),
  metadata,
  spec: z.object({
    tls: z.array(z.object({ hosts: z.array(z.string()), secretName: z.string() })),
    rules: z.array(z.object({ host: z.string(), http: z.object({ paths: z.array(z.object({ backend })) }) })),
  }),
});

const manifest = z.discriminatedUnion('kind', [
  namespace,
  configMap,
  secret,
  deployment,
  service,
  disruptionBudget,
  networkPolicy,
  ingress,
]);
type Manifest = z.output<typeof manifest>;
type Deployment = z.output<typeof deployment>;

/** The manifests of a file, each checked for the fields that the tests below read. */
async function manifestsOf(file: string): Promise<Manifest[]> {
  const text = await readFile(resolve(FOLDER, file), 'utf8');
  return [...parseAllDocuments(text)].map((document) => {
    expect(document.errors).toEqual([]);
    return manifest.parse(document.toJS());
  });
}

const files = (await readdir(FOLDER)).filter((file) => /\.yaml(\.example)?$/.test(file)).sort();
/** A copy of the example with true values is no part of the project. */
const committed = files.filter((file) => !files.includes(`${file}.example`));
const manifests = (await Promise.all(committed.map(manifestsOf))).flat();

function ofKind<Kind extends Manifest['kind']>(kind: Kind): Extract<Manifest, { kind: Kind }>[] {
  return manifests.filter((each): each is Extract<Manifest, { kind: Kind }> => each.kind === kind);
}

/**
 * What stands under this name.
 *
 * @throws {Error} when nothing does */
function found<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`there is no ${name}`);
  return value;
}

const deployments = ofKind('Deployment');

function deploymentOf(name: string): Deployment {
  return found(
    deployments.find(({ metadata }) => metadata.name === name),
    name,
  );
}

function podOf({ spec }: Deployment): z.output<typeof pod> {
  return spec.template.spec;
}

function containerOf(each: Deployment): z.output<typeof container> {
  return podOf(each).containers[0];
}

const settings = new Map(ofKind('ConfigMap').map(({ metadata, data }) => [metadata.name, data]));
const secrets = new Map(ofKind('Secret').map(({ metadata, stringData }) => [metadata.name, stringData]));

/** The environment that a container gets. */
function environmentOf(each: Deployment): Record<string, string> {
  const parts = containerOf(each).envFrom.map((from) =>
    'configMapRef' in from
      ? found(settings.get(from.configMapRef.name), from.configMapRef.name)
      : found(secrets.get(from.secretRef.name), from.secretRef.name),
  );
  const own = containerOf(each).env.map(({ name, value }) => [name, value]);
  return Object.fromEntries([...parts.flatMap((part) => Object.entries(part)), ...own]);
}

function configOf(each: Deployment): ReturnType<typeof readConfig> {
  return readConfig({ ...environmentOf(each), STATE_DIR: '/nowhere' });
}

/** The admin port that a process opens. */
function adminPortOf(each: Deployment): number {
  const { ADMIN_PORT, WORKER_ADMIN_PORT } = configOf(each);
  return each.metadata.name === 'worker' ? WORKER_ADMIN_PORT : ADMIN_PORT;
}

function portsOf(each: Deployment): Map<string, number> {
  return new Map(containerOf(each).ports.map(({ name, containerPort }) => [name, containerPort]));
}

/** The port of a URL, or the usual one of its protocol. */
function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (USUAL_PORTS[protocol] ?? 0);
}

/** The deployments whose Pods have all of these labels. */
function selected(wanted: Readonly<Record<string, string>>): string[] {
  return deployments
    .filter(({ spec }) =>
      Object.entries(wanted).every(([name, value]) => spec.template.metadata.labels[name] === value),
    )
    .map(({ metadata }) => metadata.name)
    .sort();
}

const processes = deployments.map((each) => [each.metadata.name, each] as const);

describe('deploy/kubernetes', () => {
  test('has the API and the worker, and what they need', () => {
    expect(processes.map(([name]) => name).sort()).toEqual(['api', 'worker']);
    const kinds = manifests.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(manifest.options.map(({ shape }) => shape.kind.value)));
  });

  test('all resources are in one namespace, which comes first', () => {
    const [first, ...others] = manifests;
    expect(first?.kind).toBe('Namespace');
    expect(new Set(others.map(({ metadata }) => metadata.namespace))).toEqual(
      new Set([first?.metadata.name]),
    );
  });

  test('applying the folder leaves out the example of the secrets', () => {
    expect(committed.filter((file) => file.endsWith('.example'))).toEqual(['11-secret.yaml.example']);
  });
});

describe('settings', () => {
  const given = [...settings.values(), ...secrets.values()].flatMap((part) => Object.keys(part));

  test('exist, each in one place', () => {
    const inPods = deployments.flatMap((each) => containerOf(each).env.map(({ name }) => name));
    expect(SETTING_NAMES).toEqual(expect.arrayContaining([...given, ...inPods]));
    expect(given).toEqual([...new Set(given)]);
  });

  test('that are secret are in the Secret, with placeholders', () => {
    const open = [...settings.values()].flatMap((part) => Object.keys(part));
    expect(open.filter((name) => /PASSWORD|USERNAME|REDIS_URL/.test(name))).toEqual([]);
    const values = [...secrets.values()].flatMap((part) => Object.values(part));
    expect(values.filter((value) => value !== '' && !value.includes('CHANGE-ME'))).toEqual([]);
  });

  test.each(processes)('%s starts with them', (_, each) => {
    expect(configOf(each).HOST).toBe('0.0.0.0');
    expect(Object.keys(environmentOf(each))).toEqual(expect.arrayContaining(['OPENSEARCH_URL', 'REDIS_URL']));
  });

  test.each(processes)('%s runs a program of this checkout', async (_, each) => {
    await expect(access(resolve(ROOT, containerOf(each).command[1]))).resolves.toBeUndefined();
  });
});

describe('probes', () => {
  test.each(processes)('%s is probed on its admin port, which the node can reach', (_, each) => {
    const { startupProbe, livenessProbe, readinessProbe } = containerOf(each);
    const asked = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    expect(asked.map(({ path }) => path)).toEqual(['/healthz', '/healthz', '/readyz']);
    expect(asked.map(({ port }) => portsOf(each).get(port))).toEqual(Array(3).fill(adminPortOf(each)));
    expect(configOf(each).ADMIN_HOST).toBe('0.0.0.0');
  });

  test.each(processes)('%s has time to start and to answer', (_, each) => {
    const { startupProbe, readinessProbe } = containerOf(each);
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(60);
    expect(readinessProbe.timeoutSeconds).toBeGreaterThan(READY_WITHIN);
  });

  test('both have time to stop', () => {
    const api = deploymentOf('api');
    const stopping = configOf(api).DRAIN_SECONDS + STOPS_WITHIN.api;
    expect(podOf(api).terminationGracePeriodSeconds).toBeGreaterThan(stopping);
    expect(podOf(deploymentOf('worker')).terminationGracePeriodSeconds).toBeGreaterThan(STOPS_WITHIN.worker);
  });
});

describe('containers', () => {
  test.each(processes)('%s runs without root, privileges or a token of the cluster', (_, each) => {
    expect(podOf(each).securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(containerOf(each).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(podOf(each)).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  });

  test.each(processes)('%s writes only to volumes of a limited size', (name, each) => {
    const limited = podOf(each).volumes.filter(({ emptyDir }) => emptyDir !== undefined);
    const mounts = containerOf(each).volumeMounts;
    const writable = mounts.filter(({ readOnly }) => !readOnly);
    expect(writable.map(({ mountPath }) => mountPath).sort()).toEqual(
      name === 'worker' ? ['/tmp', '/var/lib/licenses'] : ['/tmp'],
    );
    expect(limited.map((volume) => volume.name)).toEqual(
      expect.arrayContaining(writable.map((mount) => mount.name)),
    );
    expect(mounts.map((mount) => mount.name).sort()).toEqual(
      podOf(each)
        .volumes.map((volume) => volume.name)
        .sort(),
    );
  });

  test('both run the one image, of this version', () => {
    const images = new Set(deployments.map((each) => containerOf(each).image));
    expect([...images]).toEqual([
      expect.stringMatching(new RegExp(`/${packageJson.name}:${packageJson.version}$`)),
    ]);
  });

  test('have the memory that they have in docker-compose.yml', async () => {
    const compose = z
      .object({ services: z.record(z.string(), z.object({ mem_limit: z.string() })) })
      .parse(parse(await readFile(resolve(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }));
    for (const [name, each] of processes) {
      const bytes = compose.services[name]?.mem_limit.replace('m', 'Mi').replace('g', 'Gi');
      expect(containerOf(each).resources.limits.memory).toBe(bytes);
    }
  });

  test('one API process may be unavailable, and there are never two workers', () => {
    const [budget] = ofKind('PodDisruptionBudget');
    expect(budget?.spec.minAvailable).toBe(deploymentOf('api').spec.replicas - 1);
    expect(deploymentOf('worker').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });
});

describe('selectors', () => {
  test.each(processes)('of %s select its own Pods', (name, { spec }) => {
    const spread = spec.template.spec.topologySpreadConstraints.map(({ labelSelector }) => labelSelector);
    for (const { matchLabels } of [spec.selector, ...spread]) {
      expect(selected(matchLabels)).toEqual([name]);
    }
  });

  test('of the Service and the budget select the API', () => {
    const wanted = [
      ...ofKind('Service').map(({ spec }) => spec.selector),
      ...ofKind('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels),
    ];
    expect(wanted.map(selected)).toEqual([['api'], ['api']]);
  });
});

describe('the path of a request', () => {
  const [api] = ofKind('Service');
  const [entrance] = ofKind('Ingress');

  test('ends at the public port, and never at the admin port', () => {
    const each = deploymentOf('api');
    expect(api?.spec.ports.map(({ targetPort }) => portsOf(each).get(targetPort))).toEqual([
      configOf(each).PORT,
    ]);
  });

  test('leads from the Ingress to the Service', () => {
    const backends = entrance?.spec.rules.flatMap(({ http }) => http.paths.map((path) => path.backend));
    expect(backends?.map(({ service }) => service)).toEqual([
      { name: api?.metadata.name, port: { name: api?.spec.ports[0]?.name } },
    ]);
  });

  test('has TLS, and a host name that /mcp accepts', () => {
    const hosts = entrance?.spec.rules.map(({ host }) => host);
    expect(entrance?.spec.tls.flatMap((each) => each.hosts)).toEqual(hosts);
    expect(configOf(deploymentOf('api'))).toMatchObject({ MCP_ALLOWED_HOSTS: hosts, TRUSTED_PROXIES: 1 });
  });
});

describe('network policies', () => {
  const policies = ofKind('NetworkPolicy');

  /** The policies for the Pods of one deployment, apart from the one that allows nothing. */
  function policiesFor(name: string): z.output<typeof networkPolicy>['spec'][] {
    return policies
      .map(({ spec }) => spec)
      .filter(({ podSelector }) => selected(podSelector.matchLabels).includes(name));
  }

  function reached(rules: readonly { ports: readonly { port: number }[] }[]): number[] {
    return rules.flatMap(({ ports }) => ports.map(({ port }) => port)).sort((one, other) => one - other);
  }

  test('deny all other traffic', () => {
    const all = policies.filter(({ spec }) => Object.keys(spec.podSelector.matchLabels).length === 0);
    expect(all.map(({ spec }) => spec)).toEqual([
      { podSelector: { matchLabels: {} }, policyTypes: ['Ingress', 'Egress'], ingress: [], egress: [] },
    ]);
  });

  test('each is about Pods that exist, and about what it lists', () => {
    for (const { metadata, spec } of policies) {
      expect([metadata.name, selected(spec.podSelector.matchLabels)]).not.toEqual([metadata.name, []]);
      const listed = [
        ...(spec.ingress.length > 0 ? ['Ingress'] : []),
        ...(spec.egress.length > 0 ? ['Egress'] : []),
      ];
      if (listed.length > 0) expect([metadata.name, spec.policyTypes]).toEqual([metadata.name, listed]);
    }
  });

  test.each(processes)('open the ports of %s that it has', (name, each) => {
    const open = reached(policiesFor(name).flatMap((spec) => spec.ingress));
    expect(open).toEqual([...portsOf(each).values()]);
  });

  test.each(processes)('let %s reach DNS, OpenSearch and Redis; the worker also https', (name, each) => {
    const open = reached(policiesFor(name).flatMap((spec) => spec.egress));
    const { OPENSEARCH_URL, REDIS_URL } = configOf(each);
    const servers = [REDIS_URL, ...OPENSEARCH_URL.split(',')].map(portOf);
    expect(new Set(open)).toEqual(new Set([53, ...(name === 'worker' ? [443] : []), ...servers]));
  });
});
