import { print } from '../../scripts/terminal.ts';
import type { Asked } from '../lookups/asked.ts';
import type { RivalResult } from '../reports/rivals.ts';
import { turnsOf } from '../results/turns.ts';
import { described, measure } from '../rosters/measure.ts';
import { pageCacheMebibytes, processMebibytes } from './memory.ts';
import type { Kind, Rival } from './rival.ts';

/** Until Java has compiled what runs hot. */
const WARM_UP_SECONDS = 20;
const KINDS: readonly Kind[] = ['number', 'name'];

async function memoryOf({ contenders, dataFiles }: Rival): Promise<RivalResult['memory']> {
  const pids = Object.values(await contenders.number.servers()).flat();
  return {
    processes: await processMebibytes(pids),
    pageCache: await pageCacheMebibytes(await dataFiles()),
  };
}

/** Asks every rival in changing order, in each round for persons that it has not been asked for. */
export async function compare(
  rivals: readonly Rival[],
  persons: readonly Asked[],
  rounds: number,
): Promise<RivalResult[]> {
  const results = new Map(
    rivals.map((rival): [Rival, RivalResult['rounds']] => [rival, { number: [], name: [] }]),
  );
  for (const { name, contenders } of rivals) {
    for (const kind of KINDS) {
      const { wrong } = await measure(contenders[kind], persons, { seconds: WARM_UP_SECONDS });
      if (wrong > 0) throw new Error(`${name}: ${wrong} wrong answers by ${kind}.`);
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [{ name, contenders }, measured] of turnsOf([...results], round)) {
      for (const kind of KINDS) {
        const count = contenders[kind].requestsPerRound;
        const result = await measure(contenders[kind], persons.slice(round * count, (round + 1) * count));
        print(`round ${round + 1}: ${name}, ${kind}: ${described(result)}`);
        measured[kind].push(result);
      }
    }
  }
  return Promise.all(
    [...results].map(async ([rival, measured]) => ({
      name: rival.name,
      loadSeconds: rival.loadSeconds,
      bytes: rival.bytes,
      memory: await memoryOf(rival),
      rounds: measured,
    })),
  );
}
