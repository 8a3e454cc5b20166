import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startScript } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { type Asked, drawLicenses } from './load/asked.ts';
import { GIVEN_LETTERS, NAME_TUNED, NUMBER_TERM } from './load/bare-queries.ts';
import {
  bare,
  bareIds,
  type Contender,
  nameAsked,
  numberAsked,
  rest,
  rosterContenders,
} from './load/contenders.ts';
import { inRounds, measure, named } from './load/measure.ts';
import { ALL_ROWS, number, optionsOf, text } from './options.ts';
import { type Latency, ROSTERS, type RostersReport, rostersText } from './reports/rosters.ts';
import { writeResult } from './result.ts';
import type { Rounds } from './rounds.ts';
import { type Service, withService } from './service.ts';
import { residentMebibytes, sampledWhile } from './usage.ts';

const { rows, rounds, only } = optionsOf({
  rows: number(ALL_ROWS),
  rounds: number(5),
  /** Measures only contenders whose names contain this text, and writes no report. */
  only: text,
});

const DRAWN = 300_000;
const WARM_UP_SECONDS = 10;
const BESIDE = { lookupsPerSecond: 100, seconds: 2 };
const ROSTER_HEAD_START_MS = 2000;
/** Node's metric of the event loop delay includes the time between two samples. */
const SAMPLE_MS = 10;
const COMMAND_ROWS = 100_000;
const COMMAND_SAMPLED_EVERY_MS = 200;
const MATCHES = { each: 20, clients: 8, seconds: 2, sampledEveryMs: 100 };

/** The contenders: OpenSearch alone, single lookups, and rosters. */
function ownContenders(service: Service): Contender[] {
  const lookups = rest(service, ROSTERS.number, 20_000, numberAsked);
  return [
    bare(service, ROSTERS.numberBare, 20_000, NUMBER_TERM),
    bareIds(service, ROSTERS.numberMget, 60_000, {
      ids: 250,
      connections: 2,
      filter: '&filter_path=docs.found,docs._source',
    }),
    bare(service, ROSTERS.nameBare, 10_000, NAME_TUNED),
    lookups,
    rest(service, ROSTERS.name, 10_000, nameAsked),
    ...rosterContenders(service),
  ];
}

/** Sends 100 single number lookups per second, first alone and then beside rosters. */
async function besideRosters(
  own: readonly Contender[],
  asked: readonly Asked[],
  metrics: string,
): Promise<RostersReport['beside']> {
  async function latency(): Promise<Latency> {
    // Reading the metrics restarts the measurement of the event loop delay.
    await eventLoopP99(metrics);
    const load = { rate: BESIDE.lookupsPerSecond, seconds: BESIDE.seconds };
    const { p50, p99 } = await measure(named(own, ROSTERS.number), asked, load);
    return { p50, p99, eventLoopP99: await eventLoopP99(metrics) };
  }
  const idle = await latency();
  const seconds = BESIDE.seconds + (3 * ROSTER_HEAD_START_MS) / 1000;
  const load = measure(named(own, ROSTERS.numbers), asked, { seconds });
  await sleep(ROSTER_HEAD_START_MS);
  const beside = await latency();
  await load;
  return { idle, beside };
}

async function eventLoopP99(metrics: string): Promise<number> {
  const page = await (await fetch(metrics)).text();
  const seconds = /^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(page)?.[1];
  if (seconds === undefined) throw new Error('The metrics do not have the delay of the event loop.');
  return Number(seconds) * 1000 - SAMPLE_MS;
}

/** Verifies a CSV file with one row per license (alternately number and name) with the command line. */
async function verifyByCommand(
  asked: readonly Asked[],
  { api, key, apiPid }: Service,
  folder: string,
): Promise<RostersReport['verifyCommand']> {
  const [roster, result] = [join(folder, 'roster.csv'), join(folder, 'result.csv')];
  await writeFile(roster, csvOf(asked));
  const startedAt = performance.now();
  const command = startScript(
    'src/cli/main.ts',
    { LICENSES_URL: api, LICENSES_KEY: key },
    ...['verify', roster, '--out', result],
  );
  let apiMebibytes = 0;
  const read = async () => {
    apiMebibytes = Math.max(apiMebibytes, await residentMebibytes([apiPid]));
    return residentMebibytes([command.child.pid ?? 0]);
  };
  const { samples } = await sampledWhile(command.printed('rows verified'), read, COMMAND_SAMPLED_EVERY_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  return { rows: asked.length, seconds, commandMebibytes: Math.max(...samples), apiMebibytes };
}

function csvOf(asked: readonly Asked[]): string {
  const lines = asked.map(({ board, number, lastName, firstName }, at) =>
    at % 2 === 0
      ? `${at},"${board}",${number},,`
      : `${at},"${board}",,"${lastName}","${firstName.slice(0, GIVEN_LETTERS)}"`,
  );
  return `reference,board,license_number,last_name,first_name\n${lines.join('\n')}\n`;
}

/** The API's peak resident memory in MiB while eight clients send rosters of names with 20 matches each. */
async function memoryOfManyMatches(
  roster: Contender,
  asked: readonly Asked[],
  apiPid: number,
): Promise<number> {
  const common: Contender = {
    ...roster,
    ask: (licenses) => ({
      max_matches: MATCHES.each,
      items: licenses.map(({ board, lastName }) => ({ board, last_name: lastName })),
    }),
    load: { ...roster.load, expected: '"results"', connections: MATCHES.clients },
  };
  const load = measure(common, asked, { seconds: MATCHES.seconds });
  const read = () => residentMebibytes([apiPid]);
  const { samples } = await sampledWhile(load, read, MATCHES.sampledEveryMs);
  return Math.max(...samples);
}

await withService(rows, async (service) => {
  const { client, index, apiPid, admin } = service;
  const persons = await drawLicenses(client, index, { kind: 'person', count: DRAWN });
  const own = ownContenders(service);
  const inTurn = (contenders: readonly Contender[]): Promise<Rounds> =>
    inRounds(contenders, { rounds, warmUpSeconds: WARM_UP_SECONDS, drawnFor: () => persons });
  if (only !== undefined) {
    await inTurn(own.filter(({ name }) => name.includes(only)));
    return;
  }
  const results = await inTurn(own);
  const beside = await besideRosters(own, persons, `${admin}/metrics`);
  const folder = await mkdtemp(join(tmpdir(), 'bench-rosters-'));
  const verifyCommand = await verifyByCommand(persons.slice(0, COMMAND_ROWS), service, folder).finally(() =>
    rm(folder, { recursive: true, force: true }),
  );
  const memory = await memoryOfManyMatches(named(own, ROSTERS.names), persons, apiPid);
  const report: RostersReport = { rows, results, beside, verifyCommand, memory };
  await writeResult('rosters', report, client);
  print(rostersText(report));
});
