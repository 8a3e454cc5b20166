import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { installDebianPackage } from './debian-packages.ts';
import { run, StartError } from './processes.ts';
import { isInstalled } from './program-path.ts';

/** The release that `npm start` and the tests use. */
export const OPENSEARCH_VERSION = '3.8.0';
const ARTIFACT = `org.opensearch.distribution.integ-test-zip:opensearch:${OPENSEARCH_VERSION}:zip`;
const SHA256 = '196c3cf4602c394f2e40e6174ccbf2a924eae37246f08fa6bbb6b75f9fd5ff1f';
const MAVEN_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

/**
 * The folder of an unpacked OpenSearch, fetched and verified when it isn't there yet.
 *
 * @throws {StartError} when it can't be had, or isn't what was pinned
 */
export async function openSearchDistribution(
  stateDir: string,
  signal: AbortSignal,
  report: (line: string) => void,
): Promise<string> {
  const name = `opensearch-${OPENSEARCH_VERSION}`;
  const home = join(stateDir, name);
  if (existsSync(home)) return home;
  if (!isInstalled('mvn') && !(await installDebianPackage('maven', report))) {
    throw new StartError(
      'OpenSearch is fetched with Maven, which is missing: install `maven`, or set OPENSEARCH_URL to one that runs.',
    );
  }
  signal.throwIfAborted();
  report(`Fetching OpenSearch ${OPENSEARCH_VERSION} (161 MB, once) …`);
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
