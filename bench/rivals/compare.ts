import { readFile } from 'node:fs/promises';
import { print } from '../../scripts/terminal.ts';
import type { Asked } from '../lookups/asked.ts';
import { generated } from '../lookups/generated.ts';
import type { Load, LoadResult } from '../lookups/load.ts';
import { median } from '../median.ts';
import type { Kind, Rival } from './rival.ts';

/** Until Java has compiled what runs hot. */
const WARM_UP_SECONDS = 30;

async function measure(rival: Rival, kind: Kind, asked: readonly Asked[], more: Partial<Load> = {}) {
  const asks = asked.map(rival.ask[kind]);
  return generated({ ...rival.load, path: rival.path[kind], asks, ...more });
}

async function mebibytesOf(rival: Rival): Promise<number> {
  const shares = await Promise.all(
    (await rival.processes()).map(async (pid) => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    }),
  );
  return shares.reduce((sum, each) => sum + each, 0) / 1024;
}

function rowOf(
  rival: Rival,
  results: Readonly<Record<Kind, readonly LoadResult[]>>,
  mebibytes: number,
): string {
  const of = (kind: Kind, value: (result: LoadResult) => number, digits = 0) =>
    median(results[kind].map(value)).toFixed(digits);
  const wrong = [...results.number, ...results.name].reduce((sum, each) => sum + each.wrong, 0);
  const cells = [
    rival.name,
    rival.loadSeconds.toFixed(0),
    (rival.bytes / 1e6).toFixed(0),
    ...(['number', 'name'] as const).flatMap((kind) => [
      of(kind, ({ answers, seconds }) => answers / seconds),
      `${of(kind, ({ p50 }) => p50, 1)} / ${of(kind, ({ p99 }) => p99, 1)}`,
    ]),
    mebibytes.toFixed(0),
    wrong,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Asks every rival in turn, in each round for persons that it has not been asked for, and prints a table. */
export async function compare(
  rivals: readonly Rival[],
  persons: readonly Asked[],
  rounds: number,
): Promise<void> {
  const results = new Map(
    rivals.map((rival) => [rival, { number: [] as LoadResult[], name: [] as LoadResult[] }] as const),
  );
  for (const rival of rivals) {
    for (const kind of ['number', 'name'] as const) {
      await measure(rival, kind, persons.slice(-5000), { seconds: WARM_UP_SECONDS });
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [rival, measured] of results) {
      for (const kind of ['number', 'name'] as const) {
        const count = rival.counts[kind];
        const result = await measure(rival, kind, persons.slice(round * count, (round + 1) * count));
        print(
          `round ${round + 1}: ${rival.name}, ${kind}: ${(result.answers / result.seconds).toFixed(0)}/s`,
        );
        measured[kind].push(result);
      }
    }
  }
  print(
    '\n| | load s | MB on disk | numbers a second | p50 / p99 ms | names a second | p50 / p99 ms | MiB | wrong |\n' +
      '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  );
  for (const [rival, measured] of results) print(rowOf(rival, measured, await mebibytesOf(rival)));
}
