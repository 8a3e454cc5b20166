import { existsSync, globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { readConfig, SETTING_NAMES } from '../../src/config.ts';

// Whether Kubernetes knows each field is tested in test/integration/kubernetes.test.ts.

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = resolve(ROOT, 'deploy/kubernetes');

/** How long each process takes at most to stop, in seconds, after the API's DRAIN_SECONDS. */
const STOPS_WITHIN = { api: 10, worker: 20 } as const;

/** How long /readyz may take, in seconds. */
const READY_WITHIN = 3;

const USUAL_PORTS = new Map([
  ['http:', 80],
  ['https:', 443],
  ['redis:', 6379],
  ['rediss:', 6379],
]);

const labels = z.record(z.string(), z.string());
const selector = z.object({ matchLabels: labels.default({}) });
const probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  timeoutSeconds: z.number().default(1),
});
const pod = z.object({
  terminationGracePeriodSeconds: z.number(),
  containers: z.tuple([
    z.object({
      image: z.string(),
      command: z.tuple([z.literal('node'), z.string()]),
      env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
      ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
      startupProbe: probe,
      livenessProbe: probe,
      readinessProbe: probe,
    }),
  ]),
});
const rule = z.object({
  ports: z.array(z.object({ port: z.number() })),
  from: z.array(z.unknown()).default([]),
  to: z.array(z.unknown()).default([]),
});
const rules = z.array(rule).default([]);
const servicePort = z.object({ name: z.string(), port: z.number(), targetPort: z.string() });
const backend = z.object({ service: z.object({ name: z.string(), port: z.object({ name: z.string() }) }) });
const host = z.object({ host: z.string(), http: z.object({ paths: z.array(z.object({ backend })) }) });
const kinds = 'Namespace ConfigMap Secret Deployment Service PodDisruptionBudget NetworkPolicy Ingress'.split(
  ' ',
);
const manifest = z.looseObject({ kind: z.enum(kinds) });

/** Each kind, once: a copy of the example with true values is no part of the project. */
const manifests = globSync(['*.yaml', '*.yaml.example'], { cwd: FOLDER })
  .filter((file) => file !== '11-secret.yaml')
  .flatMap((file) => parseAllDocuments(readFileSync(resolve(FOLDER, file), 'utf8')))
  .map((document) => manifest.parse(document.toJS()));

function ofKind<Shape extends z.ZodRawShape>(kind: string, shape: Shape) {
  return manifests.filter((each) => each.kind === kind).map((each) => z.object(shape).parse(each));
}

const deployments = ofKind('Deployment', {
  metadata: z.object({ name: z.enum(['api', 'worker']) }),
  spec: z.object({ template: z.object({ metadata: z.object({ labels }), spec: pod }) }),
});
const services = ofKind('Service', {
  metadata: z.object({ name: z.string() }),
  spec: z.object({ selector: labels, ports: z.array(servicePort) }),
});
const policies = ofKind('NetworkPolicy', {
  spec: z.object({ podSelector: selector, ingress: rules, egress: rules }),
}).map(({ spec }) => spec);

const given = [
  ...ofKind('ConfigMap', { data: labels }).flatMap(({ data }) => Object.entries(data)),
  ...ofKind('Secret', { stringData: labels }).flatMap(({ stringData }) => Object.entries(stringData)),
];
const config = readConfig({ ...Object.fromEntries(given), STATE_DIR: '/nowhere' });
const ADMIN_PORTS = { api: config.ADMIN_PORT, worker: config.WORKER_ADMIN_PORT };
const processes = deployments.map(({ metadata, spec }) => {
  const { spec: own, metadata: ofPod } = spec.template;
  const ports = new Map(own.containers[0].ports.map(({ name, containerPort }) => [name, containerPort]));
  return { name: metadata.name, pod: own, container: own.containers[0], ports, labels: ofPod.labels };
});

/** The processes whose Pods have all of these labels. */
const selected = (wanted: Readonly<Record<string, string>>) =>
  processes.filter((each) => Object.entries(wanted).every(([name, value]) => each.labels[name] === value));

test('the settings exist, each in one place, and let other machines in', () => {
  const names = given.map(([name]) => name);
  expect([names, SETTING_NAMES]).toEqual([[...new Set(names)], expect.arrayContaining(names)]);
  expect(config).toMatchObject({ HOST: '0.0.0.0', ADMIN_HOST: '0.0.0.0', TRUSTED_PROXIES: 1 });
});

describe.each(processes.map((each) => [each.name, each] as const))(
  'the %s',
  (name, { pod: own, container, ports }) => {
    test('runs a program of this checkout, in the image of this version', () => {
      expect(existsSync(resolve(ROOT, container.command[1]))).toBe(true);
      expect(container.image).toMatch(new RegExp(`/${packageJson.name}:${packageJson.version}$`));
    });

    test('is asked on its admin port, and has time to answer and to stop', () => {
      const { startupProbe, livenessProbe, readinessProbe } = container;
      const asked = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
      expect(asked.map(({ path }) => path)).toEqual(['/healthz', '/healthz', '/readyz']);
      expect(new Set(asked.map(({ port }) => ports.get(port)))).toEqual(new Set([ADMIN_PORTS[name]]));
      expect(readinessProbe.timeoutSeconds).toBeGreaterThan(READY_WITHIN);
      const stopping = STOPS_WITHIN[name] + (name === 'api' ? config.DRAIN_SECONDS : 0);
      expect(own.terminationGracePeriodSeconds).toBeGreaterThan(stopping);
    });

    test('may be reached at its ports, and reach DNS, OpenSearch, Redis and https', () => {
      const ofProcess = policies.filter(({ podSelector }) =>
        selected(podSelector.matchLabels).some((each) => each.name === name),
      );
      const portsOf = (direction: 'ingress' | 'egress') => {
        const open = ofProcess.flatMap((spec) => spec[direction]).flatMap((each) => each.ports);
        return new Set(open.map(({ port }) => port));
      };
      const servers = [config.REDIS_URL, ...config.OPENSEARCH_URL.split(',')].map((url) => {
        const { port, protocol } = new URL(url);
        return Number(port) || USUAL_PORTS.get(protocol);
      });
      expect(portsOf('ingress')).toEqual(new Set(ports.values()));
      const api = name === 'worker' ? [config.PORT] : [];
      expect(portsOf('egress')).toEqual(new Set([53, ...servers, 443, ...api]));
    });
  },
);

test('a request comes from the Ingress through the Service to the public port of the API', () => {
  const [api] = services;
  const [ingress] = ofKind('Ingress', {
    spec: z.object({ tls: z.array(z.object({ hosts: z.array(z.string()) })), rules: z.array(host) }),
  });
  const hosts = ingress?.spec.rules.map(({ host }) => host);
  expect([hosts, ingress?.spec.tls.flatMap((each) => each.hosts)]).toEqual([config.MCP_ALLOWED_HOSTS, hosts]);
  expect(ingress?.spec.rules.flatMap(({ http }) => http.paths)).toEqual([
    { backend: { service: { name: api?.metadata.name, port: { name: api?.spec.ports[0]?.name } } } },
  ]);
  const [behind, ...others] = selected(api?.spec.selector ?? {});
  expect([behind?.name, others]).toEqual(['api', []]);
  expect(api?.spec.ports.map(({ targetPort }) => behind?.ports.get(targetPort))).toEqual([config.PORT]);
});

test('commands in the worker find the API, which lets them in', () => {
  const worker = processes.find(({ name }) => name === 'worker');
  const [api] = services;
  expect(worker?.container.env).toEqual([{ name: 'LICENSES_URL', value: `http://${api?.metadata.name}` }]);
  expect(api?.spec.ports.map(({ port }) => port)).toEqual([USUAL_PORTS.get('http:')]);
  const podsIn = (peers: readonly unknown[]) =>
    peers.flatMap((peer) => {
      const { data } = z.object({ podSelector: selector }).safeParse(peer);
      return data === undefined ? [] : selected(data.podSelector.matchLabels).map(({ name }) => name);
    });
  const peersOf = (direction: 'ingress' | 'egress', peers: 'from' | 'to') =>
    policies.flatMap((spec) => spec[direction].flatMap((each) => podsIn(each[peers])));
  expect([peersOf('egress', 'to'), peersOf('ingress', 'from')]).toEqual([['api'], ['worker']]);
});

test('DNS servers are asked in the cluster and on the node, as NodeLocal DNSCache', () => {
  const egress = policies.flatMap((spec) => spec.egress);
  const [dns] = egress.filter(({ ports }) => ports.some(({ port }) => port === 53));
  expect(dns?.to).toEqual([
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
    { ipBlock: { cidr: '169.254.0.0/16' } },
  ]);
});

test('the budget is for the API, and each policy for Pods that exist', () => {
  const budgets = ofKind('PodDisruptionBudget', { spec: z.object({ selector }) });
  const budgeted = budgets.map(({ spec }) => selected(spec.selector.matchLabels));
  expect(budgeted.map((each) => each.map(({ name }) => name))).toEqual([['api']]);
  for (const { podSelector } of policies) expect(selected(podSelector.matchLabels)).not.toEqual([]);
});
