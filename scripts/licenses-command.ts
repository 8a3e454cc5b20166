import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { run } from './programs.ts';
import type { SampleChoice } from './start-sample.ts';

const PROGRAM = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const TRIAL_ACCOUNT = ['Local trial', '--verified-by', 'npm start'];

/** The operator's commands (`npx licenses …`), as `npm start` uses them. */
export interface LicensesCommand {
  hasPublication(): Promise<boolean>;
  generateSample(folder: string, sample: SampleChoice): Promise<void>;
  /** Publishes two files, showing how it goes, and waits until they are live. */
  publish(individual: string, business: string): Promise<void>;
  hasKeys(): Promise<boolean>;
  /** A new API key, for trying the service. */
  createTrialKey(): Promise<string>;
}

/** @param env with the addresses of OpenSearch and Redis */
export function licensesCommand(env: NodeJS.ProcessEnv, signal: AbortSignal): LicensesCommand {
  const runLicenses = (args: readonly string[], ownsTerminal: boolean) =>
    run(process.execPath, [PROGRAM, ...args], { name: `licenses ${args[0]}`, env, signal, ownsTerminal });
  const ask = (args: readonly string[]) => runLicenses([...args, '--json'], false);
  const show = (args: readonly string[]) => runLicenses(args, true);
  return {
    hasPublication: async () => publications.parse(JSON.parse(await ask(['publications']))).live !== null,
    async generateSample(folder, { rows, seed, date }) {
      const options = ['--rows', String(rows), '--seed', String(seed), '--date', date];
      await show(['sample-data', folder, ...options]);
    },
    async publish(individual, business) {
      await show(['publish', '--individual', individual, '--business', business]);
    },
    hasKeys: async () => keys.parse(JSON.parse(await ask(['keys', 'list']))).length > 0,
    createTrialKey: async () => newKey.parse(JSON.parse(await ask(['keys', 'create', ...TRIAL_ACCOUNT]))).key,
  };
}

const publications = z.object({ live: z.union([z.null(), z.looseObject({})]) });
const keys = z.array(z.looseObject({}));
const newKey = z.object({ key: z.string() });
