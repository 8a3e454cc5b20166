// Plain JavaScript without dependencies: this runs on whatever Node the machine has, before anything is installed.
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
 * Installs the dependencies unless they are there, in the versions of package-lock.json. What npm prints is shown
 * only if it fails.
 */
export async function installDependencies() {
  if (dependenciesAreInstalled()) return;
  process.stdout.write('Installing dependencies (npm ci) …\n');
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const { code, output } = await runForwardingSignals('npm', ['ci', ...options], { isQuiet: true });
  if (code === 0) return;
  process.stderr.write(
    `${output}\nThe dependencies could not be installed: npm ci failed (exit code ${code}).\n`,
  );
  process.exit(code);
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
  const { code } = await runForwardingSignals(node, [fileURLToPath(url), ...process.argv.slice(2)]);
  process.exitCode = code;
}

function nodeMajor() {
  return Number(process.versions.node.split('.')[0]);
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

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{isQuiet?: boolean}} [options] whether its output is kept and not shown
 * @returns {Promise<{code: number, output: string}>} the exit code, and the output that was kept
 */
function runForwardingSignals(command, args, { isQuiet = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: isQuiet ? 'pipe' : 'inherit' });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
        output += text;
      });
    }
    const forward = (/** @type {NodeJS.Signals} */ signal) => void child.kill(signal);
    for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
    const end = (/** @type {number} */ code) => {
      for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
      resolve({ code, output });
    };
    child.on('error', (error) => {
      output += `${command}: ${error.message}\n`;
      if (!isQuiet) process.stderr.write(output);
      end(1);
    });
    child.on('close', (code, signal) => end(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await installDependencies();
