// Plain JavaScript without dependencies, because it runs on any version of Node, before anything is installed.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR = 24;
const FORWARDED_SIGNALS = /** @type {const} */ (['SIGHUP', 'SIGINT', 'SIGTERM']);

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = join(root, 'node_modules', '.bin');

/**
 * Installs the dependencies in the versions of package-lock.json, unless they are installed already. Shows npm's
 * progress and errors, but not its warnings: most say that packages need the newer Node that npm is about to install.
 */
export async function installDependencies() {
  if (dependenciesAreInstalled()) return;
  process.stdout.write('Installing dependencies (npm ci), which takes a minute or two …\n');
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const code = await runForwardingSignals('npm', ['ci', ...options]);
  if (code === 0) return;
  process.stderr.write(`The dependencies could not be installed: npm ci failed (exit code ${code}).\n`);
  process.exit(code);
}

/**
 * Installs the dependencies if necessary and runs a TypeScript program of this folder with Node 24, in this process if
 * it already is Node 24. Passes on arguments, output, signals and the exit code.
 *
 * @param {string} program the file name of the program
 */
export async function runWithNode24(program) {
  process.chdir(root);
  process.env.PATH = [programs, process.env.PATH].join(delimiter);
  await installDependencies();
  const url = new URL(program, import.meta.url);
  if (nodeMajor() >= NODE_MAJOR) {
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
  process.exitCode = await runForwardingSignals(node, [fileURLToPath(url), ...process.argv.slice(2)]);
}

function nodeMajor() {
  return Number(process.versions.node.split('.')[0]);
}

/** Whether npm has recorded a complete installation of the versions in the lock file. */
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

/**
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
function runForwardingSignals(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
    const forward = (/** @type {NodeJS.Signals} */ signal) => void child.kill(signal);
    for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
    const end = (/** @type {number} */ code) => {
      for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
      resolve(code);
    };
    child.on('error', (error) => {
      process.stderr.write(`${command}: ${error.message}\n`);
      end(1);
    });
    child.on('close', (code, signal) => end(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await installDependencies();
