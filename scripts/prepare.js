// Plain JavaScript without dependencies: this runs on whatever Node the machine has, before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR = 24;
const FORWARDED_SIGNALS = /** @type {const} */ (['SIGHUP', 'SIGINT', 'SIGTERM']);

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = join(root, 'node_modules', '.bin');

/**
 * Installs the dependencies unless they are there, in the versions of package-lock.json. What npm prints is shown
 * only if it fails.
 */
function installDependencies() {
  if (dependenciesAreInstalled()) return;
  process.stdout.write('Installing dependencies (npm ci) …\n');
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const { status, stdout, stderr, error } = spawnSync('npm', ['ci', ...options], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status === 0) return;
  process.stderr.write(
    `${error?.message ?? stdout + stderr}\nThe dependencies could not be installed: npm ci failed.\n`,
  );
  process.exit(1);
}

/**
 * Installs the dependencies if need be and runs a TypeScript program of this folder with Node 24, in this
 * process if it is one. Arguments, output, signals and the exit code pass through.
 *
 * @param {string} program its file name
 */
export async function runWithNode24(program) {
  process.chdir(root);
  process.env.PATH = [programs, process.env.PATH].join(delimiter);
  installDependencies();
  const url = new URL(program, import.meta.url);
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) {
    await import(url.href);
    return;
  }
  const node = join(programs, 'node');
  if (!existsSync(node)) {
    process.stderr.write(
      `This needs Node ${NODE_MAJOR}: install it (this is ${process.version}, and npm brings one on Linux x64 only).\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
  });
}

/** Whether npm has noted, as it does when an installation is complete, the versions that the lock file names. */
function dependenciesAreInstalled() {
  const installed = readLock(join(root, 'node_modules', '.package-lock.json'));
  const wanted = readLock(join(root, 'package-lock.json'));
  if (installed === undefined || wanted === undefined) return false;
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true;
    const found = installed[path];
    return found === undefined ? optional === true : found.version === version;
  });
}

/**
 * @param {string} path
 * @returns {Record<string, {version?: string, optional?: boolean}> | undefined}
 */
function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installDependencies();
