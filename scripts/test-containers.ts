import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { SETTING_NAMES } from '../src/config.ts';
import { daysBefore, todayInOhio } from '../src/licenses/dates.ts';
import { eventually } from '../test/support/eventually.ts';
import { aborted, runCommand } from './interrupts.ts';
import { EARLIER_COMMIT, SCRIPTS } from './licenses-processes.ts';
import { freePort } from './ports.ts';
import { killAll, print, run } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** A license in all sample data. */
const EXAMPLE = { board: 'Nursing Board', license_number: 'RN.987654321' };

const BETWEEN_LOOKUPS_MS = 50;
const ANSWERED_WITHIN_MS = 10_000;

/** A disturbance is over when all lookups have succeeded for this long. */
const CALM_MS = 3_000;

const WRONG_ANSWER = 'wrong answer';

/**
 * How lookups may fail while a container restarts: the status, or the error code if there is no response. Clients
 * notice no restart of the worker or Redis. The proxy responds for the API, and the API for OpenSearch.
 */
const MAY_FAIL = {
  worker: /^never$/,
  redis: /^never$/,
  opensearch: /^503$/,
  api: /^50[23]$/,
  proxy: /^[A-Z]/,
} as const;

/** Settings of this machine's own installation. They must not reach the containers. */
const OWN_SETTINGS = new Set([...SETTING_NAMES, 'NODE_EXTRA_CA_CERTS', 'API_REPLICAS']);
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !OWN_SETTINGS.has(name)),
);

const createdKey = z.object({ key: z.string() });
const foundLicense = z.looseObject({ found: z.literal(true), last_scraped: z.string() });
type Answer = z.output<typeof foundLicense>;

/** A checkout. Its docker-compose.yml is used unchanged, with settings that its documents mention. */
interface Version {
  readonly folder: string;
  readonly image: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * The name of the containers, networks, volumes and images of this test. They and the folder below are removed at the
 * end.
 */
const project = `licenses-test-${randomBytes(3).toString('hex')}`;
const folder = await mkdtemp(join(tmpdir(), `${project}-`));
const port = await freePort();
const url = `https://localhost:${port}`;
const certificate = join(folder, 'root.crt');

const settings = { MCP_ALLOWED_HOSTS: 'localhost', REST_REQUESTS_PER_MINUTE: '100000' };
const earlier: Version = { folder: join(folder, 'earlier'), image: `${project}:earlier`, settings };
const current: Version = {
  folder: ROOT,
  image: `${project}:current`,
  settings: { ...settings, SIGNING_SECRET_KEY: randomBytes(32).toString('base64') },
};

/**
 * Runs `docker compose` with the file of a version. COMPOSE_FILE may name further files that adapt it to the machine.
 */
async function compose(version: Version, ...parameters: readonly string[]): Promise<string> {
  const [settingsFile, overrides] = [join(folder, 'settings.env'), join(folder, 'overrides.yml')];
  const lines = Object.entries(version.settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(settingsFile, lines.join(''));
  const image = `{ image: "${version.image}" }`;
  const ports = `{ ports: !override ["127.0.0.1:${port}:443"] }`;
  await writeFile(overrides, `services:\n  api: ${image}\n  worker: ${image}\n  proxy: ${ports}\n`);
  const files = `${process.env.COMPOSE_FILE ?? 'docker-compose.yml'}:${overrides}`;
  const command = ['compose', '--project-name', project, '--env-file', settingsFile, ...parameters];
  const name = `docker compose ${parameters.join(' ')}`;
  return run('docker', command, { name, cwd: version.folder, env: { ...ENVIRONMENT, COMPOSE_FILE: files } });
}

const inWorker = (version: Version, ...command: readonly string[]) =>
  compose(version, 'exec', '--no-TTY', 'worker', ...command);

/** Starts the given containers, or all of them, and waits until they are healthy. */
async function up(version: Version, ...parameters: readonly string[]): Promise<void> {
  await compose(version, 'up', '--detach', '--wait', '--wait-timeout', '600', '--no-build', ...parameters);
  await compose(version, 'cp', 'proxy:/data/caddy/pki/authorities/local/root.crt', certificate);
  setDefaultCACertificates([...getCACertificates('bundled'), await readFile(certificate, 'utf8')]);
}

/** @param daysAgo the age of the data; the data of each day is different */
async function publish(version: Version, rows: number, daysAgo: number): Promise<string> {
  const date = daysBefore(todayInOhio(), daysAgo);
  const files = await writeSampleData({ directory: folder, rows, seed: 1, date, changed: daysAgo / 1000 });
  const inContainer = (name: string) => `/var/lib/licenses/${name}.csv`;
  for (const name of ['individual', 'business'] as const)
    await compose(version, 'cp', files[name], `worker:${inContainer(name)}`);
  const [individual, business] = [inContainer('individual'), inContainer('business')];
  await inWorker(version, 'licenses', 'publish', '--individual', individual, '--business', business);
  const isAnswered = async () => (await lookup()).last_scraped.startsWith(date);
  await eventually('a lookup is answered from what was published', () => isAnswered().catch(() => false));
  return `${files.individualRows + files.businessRows} rows of ${date}`;
}

let key = '';

/** Makes an API key in the documented way. */
async function createKey(version: Version): Promise<void> {
  const by = ['--contact', 'grace@acme.example', '--verified-by', 'Ada Operator', '--json'];
  const printed = await inWorker(version, 'licenses', 'keys', 'create', 'Acme Staffing', ...by);
  ({ key } = createdKey.parse(JSON.parse(printed)));
}

/** Sends a request through the proxy. @throws {Error} whose message is the status, if the response is not a success */
async function send(path: string, body?: object, accept = 'application/json'): Promise<string> {
  const response = await fetch(new URL(path, url), {
    headers: { 'content-type': 'application/json', 'x-api-key': key, accept },
    signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}`);
  return text;
}

async function lookup(): Promise<Answer> {
  return foundLicense.parse(JSON.parse(await send('/api/v1/lookup/verify', EXAMPLE)));
}

/** The expected response to every lookup: the first response of an installation. */
let expected: Answer;

/** @throws {Error} if the response lacks or changes a part of the expected one */
async function expectTheSame(): Promise<void> {
  // Another publication has another date, and a later version may add fields.
  const { last_scraped: _date, ...lasting } = expected;
  assert.partialDeepStrictEqual(await lookup(), lasting);
}

async function askOtherInterfaces(): Promise<void> {
  const params = { name: 'verify_license', arguments: { license_number: EXAMPLE.license_number } };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  assert.match(await send('/mcp', call, 'application/json, text/event-stream'), /"outcome":"found"/);
  assert.match(await send(`/?q=${EXAMPLE.license_number}`), new RegExp(EXAMPLE.license_number));
}

const recordFile = join(folder, 'record.jose');

async function saveRecord(): Promise<void> {
  await writeFile(recordFile, await send('/api/v1/records', EXAMPLE, 'application/jose'));
}

/** Verifies the saved record as a user would, in a separate process. */
async function verifyRecord(): Promise<string> {
  const command = [join(ROOT, SCRIPTS.licenses), 'verify-record', recordFile, '--keys', url];
  const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: certificate };
  return run(process.execPath, command, { name: 'licenses verify-record', cwd: folder, env });
}

/**
 * Looks up a license every 50 ms during a disturbance, until all lookups have succeeded for three seconds.
 *
 * @param mayFail see MAY_FAIL
 * @returns how many lookups failed, why, and the time from the first failure to the last
 */
async function underLookups(disturb: () => Promise<void>, mayFail: RegExp): Promise<string> {
  const failures: { readonly sentMs: number; readonly failedMs: number; readonly reason: string }[] = [];
  const lookups: Promise<void>[] = [];
  let isOver = false;
  const ask = async () => {
    const sentMs = Date.now();
    await expectTheSame().catch((error) => {
      failures.push({ sentMs, failedMs: Date.now(), reason: reasonOf(error) });
    });
  };
  const asking = (async () => {
    for (; !isOver; await sleep(BETWEEN_LOOKUPS_MS)) lookups.push(ask());
  })();
  try {
    await sleep(CALM_MS / 3);
    await disturb();
    const disturbedMs = Date.now();
    const isCalm = () => Date.now() - Math.max(disturbedMs, failures.at(-1)?.failedMs ?? 0) > CALM_MS;
    await eventually('lookups are answered again', isCalm);
  } finally {
    isOver = true;
    await asking;
    await Promise.all(lookups);
  }
  const reasons = Map.groupBy(failures, ({ reason }) => reason);
  const counted = [...reasons].map(([reason, all]) => `, ${reason}: ${all.length}`).join('');
  const lasted = (failures.at(-1)?.failedMs ?? 0) - (failures[0]?.sentMs ?? 0);
  const report = `${failures.length} of ${lookups.length} lookups failed, in ${seconds(lasted)}${counted}`;
  const isAsExpected = [...reasons.keys()].every((reason) => mayFail.test(reason));
  assert(isAsExpected, report);
  return report;
}

function reasonOf(error: unknown): string {
  if (error instanceof assert.AssertionError || error instanceof z.ZodError) return WRONG_ANSWER;
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Upgrades in the order of docs/operations.md: the worker first, then the API. */
async function upgrade(): Promise<void> {
  await inWorker(earlier, 'licenses', 'backup', '/backups/licenses.backup');
  await up(current, '--no-deps', 'worker');
  assert.match(await inWorker(current, 'licenses', 'publications'), / live /);
  await up(current, '--no-deps', 'api');
}

/** The memory use of the containers. Fails if a container was killed for lack of memory. */
async function usedMemory(): Promise<string> {
  const containers = (await compose(current, 'ps', '--quiet')).split('\n');
  const states = await run('docker', [
    'inspect',
    '--format',
    '{{.Name}} {{.State.OOMKilled}}',
    ...containers,
  ]);
  assert.doesNotMatch(states, /true/, 'a container was killed for lack of memory');
  return run('docker', ['stats', '--no-stream', '--format', '\n  {{.Name}}  {{.MemUsage}}', ...containers]);
}

/** A step of the test. If the action returns a text, it is printed. */
type Step = readonly [name: string, action: () => Promise<unknown>];

function steps(rows: number): readonly Step[] {
  const installed = (version: Version, daysAgo: number): readonly Step[] => [
    ['start with empty volumes', () => up(version)],
    ['make an API key', () => createKey(version)],
    ['publish', () => publish(version, rows, daysAgo)],
    [
      'look a license up through the proxy, by https',
      async () => {
        expected = await lookup();
      },
    ],
  ];
  const asked: readonly Step[] = [
    ['ask MCP and the website', askOtherInterfaces],
    ['ask the status by a command', () => inWorker(current, 'licenses', 'status')],
    ['save a signed record and verify it', () => saveRecord().then(verifyRecord)],
  ];
  const restarted = Object.entries(MAY_FAIL).map(([service, mayFail]): Step => {
    return [`restart ${service} under lookups`, () => underLookups(() => restart(service), mayFail)];
  });
  return [
    ['build the image', () => build(current)],
    ...installed(current, 1),
    ...asked,
    ...restarted,
    ['measure the memory of the containers', usedMemory],
    ['remove all', () => compose(current, 'down', '--volumes')],
    [`build the image of the earlier version (${EARLIER_COMMIT})`, buildEarlier],
    ...installed(earlier, 2),
    ['upgrade the worker and the API under lookups', () => underLookups(upgrade, MAY_FAIL.api)],
    // Changes in docker-compose.yml may replace these containers, too.
    ['upgrade the others under lookups', () => underLookups(() => up(current), /^50[23]$|^[A-Z]/)],
    ['get the same answer with the same key', expectTheSame],
    ['publish the next day', () => publish(current, rows, 1)],
    ...asked,
    ['stop and start all', () => compose(current, 'down').then(() => up(current))],
    ['get the same answer', expectTheSame],
    ['verify the record again', verifyRecord],
    ['measure the memory of the containers', usedMemory],
  ];
}

async function build(version: Version): Promise<void> {
  await compose(version, 'build', 'api');
}

async function buildEarlier(): Promise<void> {
  await mkdir(earlier.folder);
  const archive = join(folder, 'earlier.tar');
  await run('git', ['archive', '--output', archive, EARLIER_COMMIT], { cwd: ROOT });
  await run('tar', ['-xf', archive], { cwd: earlier.folder });
  await build(earlier);
}

async function restart(service: string): Promise<void> {
  await compose(current, 'restart', service);
  // The other containers may be unhealthy for some more seconds.
  await up(current, '--no-deps', service);
}

/** Removes everything that this script created. */
async function cleanUp(): Promise<void> {
  try {
    await compose(current, 'down', '--volumes', '--timeout', '10');
    for (const { image } of [current, earlier]) {
      // A failed run may not have built the image.
      await run('docker', ['image', 'rm', image]).catch(() => undefined);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

await runCommand(async (signal) => {
  const { values } = parseArgs({ options: { rows: { type: 'string', default: '20000' } } });
  let [passed, failed] = [0, 0];
  const attempt = async (name: string, action: () => Promise<unknown>) => {
    const startedMs = Date.now();
    try {
      const result = await action();
      const told = typeof result === 'string' && result !== '' ? `: ${result}` : '';
      print(`ok      ${seconds(Date.now() - startedMs).padStart(7)}  ${name}${told}`);
      passed += 1;
    } catch (error) {
      const told = error instanceof Error ? error.message : error;
      print(`FAILED  ${seconds(Date.now() - startedMs).padStart(7)}  ${name}: ${told}`);
      failed += 1;
    }
  };
  for (const [name, action] of steps(Number(values.rows))) {
    await attempt(name, () => Promise.race([aborted(signal), action()]));
    if (failed > 0) break;
  }
  // Processes started by an interrupted step must end before the clean-up.
  killAll();
  if (failed > 0 && !signal.aborted) print(await compose(current, 'logs', '--tail', '20').catch(String));
  await attempt('remove everything', cleanUp);
  print(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
