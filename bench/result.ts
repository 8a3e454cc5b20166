import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';

/** The folder of the raw results. */
const FOLDER = resolve(import.meta.dirname, '../docs/performance');

/** The date, the command and the machine of a measurement. */
const origin = z.strictObject({
  /** `YYYY-MM-DD`. */
  measuredOn: z.string(),
  command: z.string(),
  processor: z.string(),
  cores: z.int(),
  memoryGibibytes: z.int(),
  node: z.string(),
  /** The version of Java that ran OpenSearch, and its options. */
  java: z.string(),
  javaOptions: z.array(z.string()),
});

type Origin = z.output<typeof origin>;

const resultFile = z.strictObject({ origin, report: z.unknown() });

type Result = z.output<typeof resultFile>;

/** Java options that affect OpenSearch's speed: the heap, the compilers and the garbage collector. */
const FAST_OR_SLOW = /^-X(?:ms|mx|int|comp)|^-XX:.*(?:Compil|Tiered|GC)/;

async function originOf(client: Client, command: string): Promise<Origin> {
  const { body } = await client.nodes.info({ metric: ['jvm'] });
  const jvm = Object.values(body.nodes)[0]?.jvm;
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    command,
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGibibytes: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    java: jvm?.version ?? 'unknown',
    javaOptions: (jvm?.input_arguments ?? []).filter((option) => FAST_OR_SLOW.test(option)),
  };
}

/** Reads the committed result of a measurement. */
export async function readResult(name: string): Promise<Result> {
  return resultFile.parse(JSON.parse(await readFile(join(FOLDER, `${name}.json`), 'utf8')));
}

/**
 * Writes the raw result of a measurement into docs/performance, if the command has `--publish`.
 *
 * @param client a client of the measured OpenSearch, which reports its Java version
 */
export async function writeResult(name: string, report: unknown, client: Client): Promise<void> {
  const command = process.env.BENCH_PUBLISH;
  if (command === undefined) return;
  await mkdir(FOLDER, { recursive: true });
  const result: Result = { origin: await originOf(client, command), report };
  await writeFile(join(FOLDER, `${name}.json`), `${JSON.stringify(result, rounded)}\n`);
}

/** Rounds numbers to four decimal places, because clocks are not more precise. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(4)) : value;
}

/** A line above the tables that describes the machine and its software. */
export function machineLine({ cores, processor, ...origin }: Origin): string {
  // If the option is repeated, Java uses the last one.
  const heap = origin.javaOptions.findLast((option) => option.startsWith('-Xmx')) ?? 'the default heap';
  return `Machine: ${cores} cores (${processor}), ${origin.memoryGibibytes} GiB; Node ${origin.node}, Java ${origin.java} with \`${heap}\`.`;
}
