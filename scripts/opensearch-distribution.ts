import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { installDebianPackage } from './debian-packages.ts';
import { StartError } from './processes.ts';
import { isInstalled } from './program-path.ts';
import { run } from './programs.ts';

/** The release that `npm start` and the tests use. */
export const OPENSEARCH_VERSION = '3.8.0';
const ARTIFACT = `org.opensearch.distribution.integ-test-zip:opensearch:${OPENSEARCH_VERSION}:zip`;
const SHA256 = '196c3cf4602c394f2e40e6174ccbf2a924eae37246f08fa6bbb6b75f9fd5ff1f';
const MAVEN_GOAL = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';

/** Maven's own progress, such as `Progress (1): 12/161 MB`; its plugins' files are far smaller. */
const MAVEN_PROGRESS = /([\d.]+)\/(\d{3}) MB/;
const REPORTED_EVERY_MS = 5000;

/** Files needed on the way from the state folder to an unpacked OpenSearch. */
export interface OpenSearchSource {
  readonly stateDir: string;
  /** The Java whose `jar` unpacks it where there is no `unzip`. */
  readonly javaHome: string;
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
}

/**
 * The folder of an unpacked OpenSearch, fetched and verified when it isn't there yet.
 *
 * @throws {StartError} when it can't be had, or isn't what was pinned
 */
export async function openSearchDistribution(source: OpenSearchSource): Promise<string> {
  const home = join(source.stateDir, `opensearch-${OPENSEARCH_VERSION}`);
  if (existsSync(home)) return home;

  const downloads = join(source.stateDir, 'downloads');
  await rm(downloads, { recursive: true, force: true });
  await mkdir(downloads, { recursive: true });
  const zip = join(downloads, `opensearch-${OPENSEARCH_VERSION}.zip`);
  await fetchWithMaven(downloads, source);
  await verify(zip);
  source.report('Unpacking OpenSearch …');
  await unpack(zip, downloads, source);
  await rename(join(downloads, `opensearch-${OPENSEARCH_VERSION}`), home);
  await rm(downloads, { recursive: true, force: true });
  return home;
}

async function fetchWithMaven(folder: string, { signal, report }: OpenSearchSource): Promise<void> {
  if (!isInstalled('mvn') && !(await installDebianPackage('maven', report))) {
    throw new StartError(
      'OpenSearch is fetched with Maven, which is missing: install `maven`, or set OPENSEARCH_URL to one that runs.',
    );
  }
  signal.throwIfAborted();
  report(`Fetching OpenSearch ${OPENSEARCH_VERSION} (161 MB, once) …`);
  let reportedAt = Date.now();
  const onLine = (line: string) => {
    const [, done, total] = MAVEN_PROGRESS.exec(line) ?? [];
    if (done === undefined || Date.now() - reportedAt < REPORTED_EVERY_MS) return;
    reportedAt = Date.now();
    report(`Fetching OpenSearch: ${done} of ${total} MB`);
  };
  const args = [MAVEN_GOAL, `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${folder}`];
  await run('mvn', args, { cwd: folder, signal, onLine });
}

async function verify(zip: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(zip), hash);
  if (hash.digest('hex') === SHA256) return;

  throw new StartError(
    `What Maven fetched as ${ARTIFACT} is not what was expected (SHA-256 ${SHA256}): delete it from Maven's local repository and try again.`,
  );
}

async function unpack(zip: string, folder: string, { javaHome, signal }: OpenSearchSource): Promise<void> {
  const jar = [join(javaHome, 'bin', 'jar'), 'jar'].find(isInstalled);
  if (isInstalled('unzip')) await run('unzip', ['-q', '-o', zip], { cwd: folder, signal });
  else if (jar !== undefined) await run(jar, ['xf', zip], { cwd: folder, signal });
  else await run('python3', ['-m', 'zipfile', '-e', zip, folder], { cwd: folder, signal });

  const programs = join(folder, `opensearch-${OPENSEARCH_VERSION}`, 'bin');
  for (const name of await readdir(programs)) await chmod(join(programs, name), 0o755);
}
