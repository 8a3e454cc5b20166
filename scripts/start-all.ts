import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type Config, loadEnvironmentFile, readConfig } from '../src/config.ts';
import { aborted, runCommand } from './interrupts.ts';
import { originOf, SCRIPTS, startLogged, waitForAnswer } from './licenses-processes.ts';
import { freePort } from './ports.ts';
import { endInWords, killAll, print, type RunningProcess, run, StartError } from './processes.ts';
import { secretSettings } from './secret-settings.ts';
import { recordApi, startServices } from './services.ts';
import { startSample, welcome } from './welcome.ts';

const STOP_MS = 15_000;

/** Chooses ports that the operator set to 0 here, so that they can be printed. */
async function configWithPorts(): Promise<Config> {
  const config = readConfig();
  return {
    ...config,
    PORT: config.PORT || (await freePort()),
    ADMIN_PORT: config.ADMIN_PORT || (await freePort()),
    WORKER_ADMIN_PORT: config.WORKER_ADMIN_PORT || (await freePort()),
  };
}

/** Waits for a promise, but fails if a process that must keep running ends first. */
async function unless(trouble: Promise<string>, awaited: Promise<void>): Promise<void> {
  const what = await Promise.race([trouble, awaited]);
  if (what !== undefined) throw new StartError(what);
}

const publications = z.object({ live: z.looseObject({}).nullable() });
const keys = z.array(z.looseObject({}));
const newKey = z.object({ key: z.string() });

async function serve(
  config: Config,
  env: NodeJS.ProcessEnv,
  api: RunningProcess,
  signal: AbortSignal,
): Promise<void> {
  const licenses = (args: readonly string[], ownsTerminal: boolean) => {
    const options = { name: `licenses ${args[0]}`, env, signal, ownsTerminal };
    return run(process.execPath, [resolve(import.meta.dirname, '..', SCRIPTS.licenses), ...args], options);
  };
  const ask = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse(await licenses([...args, '--json'], false));
  const show = (...args: readonly string[]) => licenses(args, true);

  const admin = originOf(config.ADMIN_HOST, config.ADMIN_PORT);
  await waitForAnswer(api, `${admin}/healthz`, signal);
  const { live } = publications.parse(await ask('publications'));
  if (live === null) await publishFirst(config, show);
  await waitForAnswer(api, `${admin}/readyz`, signal);
  const hasKeys = keys.parse(await ask('keys', 'list')).length > 0;
  const create = ['keys', 'create', 'Local trial', '--verified-by', 'npm start'];
  const key = hasKeys ? undefined : newKey.parse(await ask(...create)).key;
  const address = originOf(config.HOST, config.PORT);
  for (const line of welcome(address, key)) print(line);
}

async function publishFirst(
  { DATASET_INDIVIDUAL: individual, DATASET_BUSINESS: business, STATE_DIR }: Config,
  show: (...args: readonly string[]) => Promise<unknown>,
): Promise<void> {
  if (individual !== undefined && business !== undefined) {
    print('Publishing the dataset …');
    await show('publish');
    return;
  }
  print('Publishing generated sample data …');
  const folder = join(resolve(STATE_DIR), 'sample');
  const { rows, seed, date } = startSample();
  await show('sample-data', folder, '--rows', String(rows), '--seed', String(seed), '--date', date);
  const files = ['--individual', join(folder, 'individual.csv'), '--business', join(folder, 'business.csv')];
  await show('publish', ...files);
}

await runCommand(async (signal) => {
  loadEnvironmentFile();
  const config = await configWithPorts();
  // The functions that stop what was started, to be called in reverse order.
  const stops: (() => Promise<void>)[] = [];
  try {
    const services = await startServices({ signal });
    stops.push(services.stop);
    const env = {
      ...process.env,
      PORT: String(config.PORT),
      ADMIN_PORT: String(config.ADMIN_PORT),
      WORKER_ADMIN_PORT: String(config.WORKER_ADMIN_PORT),
      OPENSEARCH_URL: services.opensearch,
      REDIS_URL: services.redis,
      ...(await secretSettings(config, process.env)),
    };
    print('Starting the worker and the API …');
    const worker = startLogged('worker', config.STATE_DIR, env);
    stops.push(() => worker.stop(STOP_MS));
    // No load balancer needs time to notice the stop.
    const api = startLogged('API', config.STATE_DIR, { DRAIN_SECONDS: '0', ...env });
    stops.push(() => api.stop(STOP_MS));
    const trouble = Promise.race([services.lost, endInWords(worker), endInWords(api)]);
    const workerAdmin = originOf(config.ADMIN_HOST, config.WORKER_ADMIN_PORT);
    await unless(trouble, waitForAnswer(worker, `${workerAdmin}/readyz`, signal));
    stops.push(await recordApi(config.STATE_DIR, originOf(config.HOST, config.PORT)));
    await unless(trouble, serve(config, env, api, signal));
    const interrupted = aborted(signal).catch(() => undefined);
    await unless(trouble, interrupted);
  } finally {
    if (signal.aborted) print('\nStopping …');
    for (const stop of stops.toReversed()) await stop();
    killAll();
    if (signal.aborted) print('stopped');
  }
  return 0;
});
