import { print } from '../scripts/processes.ts';
import { licenseId } from '../src/licenses/license.ts';
import { type Asked, drawLicenses } from './load/asked.ts';
import { NAME_TUNED, NAME_TUNED_WHOLE, NUMBER_TERM, NUMBER_TERM_WHOLE } from './load/bare-queries.ts';
import {
  bare,
  bareIds,
  type Contender,
  mcpLoad,
  nameAsked,
  numberAsked,
  rest,
  restMissed,
  single,
  toolCall,
} from './load/contenders.ts';
import type { Load } from './load/load.ts';
import { mcpContenders } from './load/mcp-contenders.ts';
import { described, inRounds, measure, named } from './load/measure.ts';
import { ALL_ROWS, number, optionsOf, text } from './options.ts';
import { LOOKUPS, type LookupsReport, lookupsText } from './reports/lookups.ts';
import { writeResult } from './result.ts';
import { medianOf, type Rounds, rateOf } from './rounds.ts';
import { type Service, withService } from './service.ts';
import { residentMebibytes, sampledWhile } from './usage.ts';

const options = optionsOf({
  rows: number(ALL_ROWS),
  rounds: number(5),
  /** Measures only contenders whose names contain this text, and writes no report. */
  only: text,
  /** How long to watch the API's memory at full rate. */
  minutes: number(2),
  /** The seconds of warm-up per contender before the first round. */
  'warm-up': number(20),
});

const DRAWN = 140_000;
const HALF_RATE_SECONDS = 10;
const AT_HALF_RATE = [LOOKUPS.number, LOOKUPS.numberBare, LOOKUPS.numberGet, LOOKUPS.numberMget];
const GROWTH = 10;
const MEMORY_EVERY_MS = 10_000;
/** The most numbers that the service sends in one `_mget`. */
const BATCH = 32;
/** With so many connections, the API answers misses without suggestions. */
const BUSY_CONNECTIONS = 256;

/** A service, and the contenders that are measured on it. */
interface Bench {
  readonly service: Service;
  readonly all: readonly Contender[];
  readonly persons: readonly Asked[];
}

function contenders(service: Service): Contender[] {
  const byTerm = bare(service, LOOKUPS.numberBare, 60_000, NUMBER_TERM);
  const byRest = rest(service, LOOKUPS.number, 50_000, numberAsked);
  const missed = restMissed(service, LOOKUPS.missed, 20_000);
  return [
    byTerm,
    bare(service, LOOKUPS.numberBareWhole, 60_000, NUMBER_TERM_WHOLE),
    {
      ...{ ...byTerm, name: LOOKUPS.numberGet, itemsPerRound: 100_000 },
      load: { ...byTerm.load, method: 'GET', path: `/${service.index}/_doc/` },
      ...single(({ board, number }) => `${encodeURIComponent(licenseId(board, number))}?realtime=false`),
    },
    bareIds(service, LOOKUPS.numberMget, 100_000, { ids: 1, connections: 64 }),
    bareIds(service, LOOKUPS.numberMget32, 128_000, { ids: BATCH, connections: 2 }),
    byRest,
    {
      ...{ ...byRest, name: LOOKUPS.numberMcp, itemsPerRound: 20_000, load: mcpLoad(service.api) },
      ...single(({ number }) => toolCall('verify_license', { license_number: number })),
    },
    // These send the board and a protocol version, as clients do.
    ...mcpContenders(service).filter(({ name }) => name.startsWith('number, MCP')),
    bare(service, LOOKUPS.nameBare, 30_000, NAME_TUNED),
    bare(service, LOOKUPS.nameBareWhole, 30_000, NAME_TUNED_WHOLE),
    rest(service, LOOKUPS.name, 20_000, nameAsked),
    missed,
    {
      ...{ ...missed, name: LOOKUPS.missedBusy, itemsPerRound: 40_000 },
      load: { ...missed.load, connections: BUSY_CONNECTIONS },
    },
  ];
}

function inTurn({ persons }: Bench, all: readonly Contender[], more: Partial<Load> = {}): Promise<Rounds> {
  const { rounds, 'warm-up': warmUpSeconds } = options;
  return inRounds(all, { rounds, warmUpSeconds, more, drawnFor: () => persons });
}

/** The API's resident memory in MiB while it answers at full rate. */
async function memoryAtFullRate({ all, persons, service }: Bench): Promise<number[]> {
  const load = measure(named(all, LOOKUPS.number), persons, { seconds: options.minutes * 60 });
  const read = () => residentMebibytes([service.apiPid]);
  const { result, samples } = await sampledWhile(load, read, MEMORY_EVERY_MS);
  print(`memory at full rate: ${described(result)}; MiB: ${samples.map(Math.round).join(' ')}`);
  return [...samples];
}

/** Starts the API with this many rows for a measurement. */
function withBench<Result>(rows: number, work: (bench: Bench) => Promise<Result>): Promise<Result> {
  return withService(rows, async (service) => {
    const { client, index } = service;
    const persons = await drawLicenses(client, index, { kind: 'person', count: DRAWN });
    return work({ service, all: contenders(service), persons });
  });
}

async function measureAll(rows: number): Promise<void> {
  const fewer = await withBench(Math.round(rows / GROWTH), (bench) =>
    inTurn(bench, [named(bench.all, LOOKUPS.number), named(bench.all, LOOKUPS.name)]),
  );
  await withBench(rows, async (bench) => {
    const results = await inTurn(bench, bench.all);
    const rate = medianOf(results, LOOKUPS.number, rateOf) / 2;
    const atHalfRate = AT_HALF_RATE.map((name) => named(bench.all, name));
    const half = await inTurn(bench, atHalfRate, { rate, seconds: HALF_RATE_SECONDS });
    const memory = await memoryAtFullRate(bench);
    const halfRate = { rate, results: half };
    const report: LookupsReport = { rows, results, halfRate, memory, fewer };
    await writeResult('lookups', report, bench.service.client);
    print(lookupsText(report));
  });
}

const { rows, only } = options;
if (only === undefined) await measureAll(rows);
else {
  await withBench(rows, (bench) =>
    inTurn(
      bench,
      bench.all.filter(({ name }) => name.includes(only)),
    ),
  );
}
