import { join, resolve } from 'node:path';
import { type Config, ConfigError, readConfig } from '../src/config.ts';
import { commandsToTry } from './commands-to-try.ts';
import { Interrupted, untilAborted, watchInterrupts } from './interrupts.ts';
import { type LicensesCommand, licensesCommand } from './licenses-command.ts';
import { originOf, startLogged, waitForApi, waitForWorker } from './licenses-processes.ts';
import { checkPortsAreFree, freePort } from './ports.ts';
import { killAll } from './process-groups.ts';
import { type RunningProcess, StartError } from './processes.ts';
import { startServices } from './services.ts';
import { startSample } from './start-sample.ts';
import { print } from './terminal.ts';
import { welcome } from './welcome.ts';

const STOP_MS = 15_000;

/** What is under way, to be stopped in the reverse order. */
type Stops = (() => Promise<void>)[];

async function startAll(signal: AbortSignal, stops: Stops): Promise<void> {
  const config = await configWithPorts();
  await checkPortsAreFree([
    { setting: 'PORT', host: config.HOST, port: config.PORT },
    { setting: 'ADMIN_PORT', host: config.ADMIN_HOST, port: config.ADMIN_PORT },
    { setting: 'WORKER_ADMIN_PORT', host: config.ADMIN_HOST, port: config.WORKER_ADMIN_PORT },
  ]);
  const services = await startServices({ signal }, print);
  stops.push(services.stop);
  const env = {
    ...process.env,
    PORT: String(config.PORT),
    ADMIN_PORT: String(config.ADMIN_PORT),
    WORKER_ADMIN_PORT: String(config.WORKER_ADMIN_PORT),
    OPENSEARCH_URL: services.opensearch,
    REDIS_URL: services.redis,
  };
  print('Starting the worker and the API …');
  const worker = startLogged('worker', { config, env, show: print });
  stops.push(() => worker.stop(STOP_MS));
  // Nothing stands in front of it that would have to notice when it stops.
  const api = startLogged('API', { config, env: { DRAIN_SECONDS: '0', ...env }, show: print });
  stops.push(() => api.stop(STOP_MS));
  const trouble = Promise.race([services.lost, endOf(worker), endOf(api)]);
  await unless(trouble, waitForWorker(worker, config, signal));
  await unless(trouble, serve(config, env, api, signal));
  await unless(trouble, untilAborted(signal));
  print('\nStopping …');
}

/** Ports that the operator left to us (0) are picked here, so that they can be printed. */
async function configWithPorts(): Promise<Config> {
  const config = readConfig();
  return {
    ...config,
    PORT: config.PORT || (await freePort()),
    ADMIN_PORT: config.ADMIN_PORT || (await freePort()),
    WORKER_ADMIN_PORT: config.WORKER_ADMIN_PORT || (await freePort()),
  };
}

/** Waits for something, unless a process that must stay ends first. */
async function unless(trouble: Promise<string>, awaited: Promise<void>): Promise<void> {
  const what = await Promise.race([trouble, awaited]);
  if (what !== undefined) throw new StartError(what);
}

async function endOf(process: RunningProcess): Promise<string> {
  const how = await process.ended;
  return `The ${process.name} has ended (${how}). Its last lines:\n${process.lastLines()}`;
}

async function serve(
  config: Config,
  env: NodeJS.ProcessEnv,
  api: RunningProcess,
  signal: AbortSignal,
): Promise<void> {
  const licenses = licensesCommand(env, signal);
  await waitForApi(api, '/healthz', config, signal);
  if (!(await licenses.hasPublication())) await publishFirst(licenses, config);
  await waitForApi(api, '/readyz', config, signal);
  const key = (await licenses.hasKeys()) ? undefined : await licenses.createTrialKey();
  const address = originOf(config.HOST, config.PORT);
  const commands = await commandsToTry(address, key ?? '$KEY');
  for (const line of welcome(address, key, commands)) print(line);
}

async function publishFirst(licenses: LicensesCommand, config: Config): Promise<void> {
  const { DATASET_INDIVIDUAL: individual, DATASET_BUSINESS: business } = config;
  if (individual !== undefined && business !== undefined) {
    print('Publishing the dataset …');
    await licenses.publish(individual, business);
    return;
  }
  print('Publishing generated sample data …');
  const folder = join(resolve(config.STATE_DIR), 'sample');
  await licenses.generateSample(folder, startSample());
  await licenses.publish(join(folder, 'individual.csv'), join(folder, 'business.csv'));
}

async function stopAll(stops: Stops): Promise<void> {
  for (const stop of stops.toReversed()) await stop();
  killAll();
}

const signal = watchInterrupts();
const stops: Stops = [];
try {
  await startAll(signal, stops);
} catch (error) {
  if (error instanceof Interrupted) print('\nStopping …');
  else if (error instanceof StartError || error instanceof ConfigError) print(error.message);
  else print(error instanceof Error ? `${error.stack}` : String(error));
  process.exitCode = error instanceof Interrupted ? error.exitCode : 1;
}
await stopAll(stops);
if (signal.aborted) print('stopped');
