import { readFileSync, rmSync } from 'node:fs';
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/*
 * Test files run as Node itself runs the code: no VM context, no transformer. Each file gets the modules of this
 * project anew, so that it sees no state of another file's; packages are loaded once in each of Jest's processes.
 * In a VM context of Jest's, every file loads every package again: 0.7 s of CPU for each file that uses OpenSearch.
 */
const ROOT = new URL('../../', import.meta.url).href;
const TESTS = new URL('test/', ROOT).href;
const GLOBALS = new URL('globals.js', import.meta.url).href;
const OF_FILE = /\?test-file=\d+$/;

const require = createRequire(import.meta.url);
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** @type {Map<string, string>} */
const sources = new Map();

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [ofFile] = OF_FILE.exec(context.parentURL ?? '') ?? [];
    if (ofFile === undefined) return nextResolve(specifier, context);
    if (specifier === '@jest/globals') return { url: GLOBALS + ofFile, format: 'module', shortCircuit: true };
    const resolved = nextResolve(specifier, context);
    if (!resolved.url.startsWith(TESTS) || !/\.[jt]s$/.test(resolved.url)) return resolved;
    return { ...resolved, url: resolved.url + ofFile };
  },
  load(url, context, nextLoad) {
    if (!OF_FILE.test(url)) return nextLoad(url, context);
    const path = fileURLToPath(url);
    let source = sources.get(path);
    if (source === undefined) {
      source = readFileSync(path, 'utf8');
      if (path.endsWith('.ts')) source = stripTypeScriptTypes(source, { mode: 'strip' });
      sources.set(path, source);
    }
    return { format: 'module', source, shortCircuit: true };
  },
});

let files = 0;

/** What Jest runs a test file with, in place of `jest-runtime`. */
export default class NativeRuntime {
  constructor(_config, environment) {
    files += 1;
    this.file = files;
    this.environment = environment;
  }
  /** Jest's own framework keeps its tests and listeners in itself and on the global object: a new one for each file. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    return require(path);
  }
  requireModule(path) {
    return require(path);
  }
  setGlobalsForRuntime(globals) {
    const { moduleMocker: mocker, fakeTimersModern: timers } = this.environment;
    const jest = {
      fn: mocker.fn.bind(mocker),
      spyOn: mocker.spyOn.bind(mocker),
      restoreAllMocks: () => mocker.restoreAllMocks(),
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      setSystemTime: (now) => timers.setSystemTime(now),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    };
    globalThis[Symbol.for('test-file-globals')] = { ...globals, jest };
  }
  unstable_shouldLoadAsEsm() {
    return true;
  }
  unstable_importModule(path) {
    return import(`${pathToFileURL(path)}?test-file=${this.file}`);
  }
  getSourceMaps() {
    return new Map();
  }
  getAllCoverageInfoCopy() {}
  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
}

/** Where processes that a test file starts leave what they print. `scripts/processes.ts` reads it. */
const LOGS = Symbol.for('test-logs');
const CLEAN_UPS = Symbol.for('test-clean-ups');

function hasErrors({ type, errors = [], children = [] }) {
  return (type === 'test' && errors.length > 0) || children.some(hasErrors);
}

/** The environment that goes with it: the process's own global object. */
export class NativeEnvironment {
  constructor({ projectConfig }, { testPath }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.fakeTimers = this.fakeTimersModern;
    this.before = { console: globalThis.console, exit: process.exit };
    this.hasPassed = false;
    const { TEST_LOGS } = process.env;
    this.logs = TEST_LOGS && join(TEST_LOGS, relative(projectConfig.rootDir, testPath));
  }
  async setup() {
    globalThis[LOGS] = this.logs;
    globalThis[CLEAN_UPS] = [];
  }
  handleTestEvent({ name, error }, { unhandledErrors, rootDescribeBlock }) {
    // A stack names the file, not its address in this process.
    if (error instanceof Error)
      error.stack = error.stack?.replaceAll(/file:\/\/(\S+?)\?test-file=\d+/g, '$1');
    if (name === 'run_finish') this.hasPassed = unhandledErrors.length === 0 && !hasErrors(rootDescribeBlock);
  }
  async teardown() {
    // Also what was made by a hook that failed later. `scripts/clean-up.ts` says what.
    const cleanUps = globalThis[CLEAN_UPS];
    globalThis[CLEAN_UPS] = undefined;
    const failed = [];
    for (const cleanUp of cleanUps.reverse()) await Promise.try(cleanUp).catch((error) => failed.push(error));
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    globalThis.console = this.before.console;
    process.exit = this.before.exit;
    globalThis[LOGS] = undefined;
    if (failed.length > 0) throw failed[0];
    if (this.hasPassed && this.logs) rmSync(this.logs, { recursive: true, force: true });
  }
  getVmContext() {
    return null;
  }
  exportConditions() {
    return ['node', 'node-addons'];
  }
}
