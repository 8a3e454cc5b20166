import { Command } from 'commander';
import { z } from 'zod';
import { responseRecord } from '../answers/view.ts';
import { CAUTION_WORDS, missDetail, NOTE_WORDS } from '../answers/words.ts';
import { BOARDS, boardByLabel } from '../licenses/boards.ts';
import { addTo } from '../licenses/counts.ts';
import { ohioTime, todayInOhio } from '../licenses/dates.ts';
import { boardName } from './options.ts';
import { grouped, print, printJson, table } from './output.ts';
import {
  answerAs,
  ask,
  publicServiceOf,
  type ServiceOptions,
  serviceOf,
  withServiceOptions,
} from './service-client.ts';
import { JSON_OPTION, type JsonOption } from './store-command.ts';

/** Exit codes beside 0: what a script must not take for a good answer. */
const LOOK_AT_IT = 2;
const NOT_FOUND = 3;

/** An earlier service sends less, a later one more, also cautions that this version does not know. */
const record = responseRecord
  .extend({ cautions: z.array(z.string()), notes: z.array(z.string()).default([]) })
  .partial({ data_age_days: true })
  .loose();

const lookupAnswer = z.object({
  last_scraped: z.string(),
  results: z.array(
    z.discriminatedUnion('outcome', [
      z.object({ outcome: z.literal('found'), record }),
      z.object({
        outcome: z.literal('not_found'),
        detail: z.string(),
        reason: z.string().optional(),
        did_you_mean: z.array(z.string()),
      }),
      z.object({ outcome: z.literal('invalid'), detail: z.string() }),
    ]),
  ),
});

type LookupAnswer = z.output<typeof lookupAnswer>;
type LookupOptions = ServiceOptions & JsonOption & { readonly board?: string };

/** `licenses lookup NUMBER`: a client of the REST API. */
export function lookupCommand(): Command {
  const command = new Command('lookup')
    .description(
      'look a license number up at a running service. Exit 0: found without cautions, 2: with cautions or at several boards, 3: not found, 1: not answered',
    )
    .argument('<number>', 'the license number')
    .option('--board <board>', 'only at this board, by its code or its name', boardName)
    .option(...JSON_OPTION);
  return withServiceOptions(command).action(async (number: string, options: LookupOptions) => {
    process.exitCode = await lookUp(number, options);
  });
}

async function lookUp(number: string, options: LookupOptions): Promise<number> {
  const boards = options.board === undefined ? BOARDS.map(({ name }) => name) : [options.board];
  const text = await ask(serviceOf(options), {
    path: '/api/v1/lookup/batch',
    contentType: 'application/json',
    // A lookup by REST is one at a board.
    body: JSON.stringify({ items: boards.map((board) => ({ board, license_number: number })) }),
  });
  const answer = answerAs(lookupAnswer, text);
  const sample = (await statusOf(options)).publication?.sample ?? false;
  const found = answer.results.flatMap((result) => (result.outcome === 'found' ? [result.record] : []));
  const miss = found.length > 0 ? null : missOf(number, answer);
  if (options.json === true) printJson({ last_scraped: answer.last_scraped, sample, found, miss });
  else {
    for (const each of found) print(recordLines(each));
    const date = answer.last_scraped.slice(0, 10);
    print(miss?.detail ?? `In the State's dataset of ${date}. The issuing board is the authority.`);
    if (sample) print('SAMPLE DATA: generated, of no real person or business.');
  }
  if (miss !== null) return NOT_FOUND;
  return found.length === 1 && found[0]?.cautions.length === 0 ? 0 : LOOK_AT_IT;
}

/**
 * What was searched without finding the number.
 *
 * @throws {Error} when the number can't be looked up
 */
function missOf(number: string, { results, last_scraped }: LookupAnswer) {
  const invalid = results.find(({ outcome }) => outcome === 'invalid');
  if (invalid?.outcome === 'invalid') throw new Error(invalid.detail);
  const misses = results.flatMap((result) => (result.outcome === 'not_found' ? [result] : []));
  const told = misses.find(({ reason }) => reason === 'ambiguous') ?? misses[0];
  if (told !== undefined && (misses.length === 1 || told.reason === 'ambiguous'))
    return { detail: told.detail, did_you_mean: told.did_you_mean };
  const didYouMean = [...new Set(misses.flatMap(({ did_you_mean }) => did_you_mean))];
  const request = { by: 'number', number, businessOnly: false } as const;
  const origin = { date: last_scraped.slice(0, 10), today: todayInOhio() };
  const miss = { outcome: 'none', reason: 'unknown', request, didYouMean } as const;
  const detail = missDetail(miss, origin, 'rest');
  return { detail, did_you_mean: didYouMean };
}

const MEANINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...CAUTION_WORDS, ...NOTE_WORDS }).map(([code, { meaning }]) => [code, meaning] as const),
);

function recordLines(found: z.output<typeof record>): string[] {
  const { expiry_date: expiry, days_until_expiry: days, cautions, notes } = found;
  const told = (label: string, codes: readonly string[]) =>
    codes.map(
      (code) => [label, `${code}: ${MEANINGS.get(code) ?? 'see the documents of the service'}`] as const,
    );
  const inDays =
    days === null ? '' : days < 0 ? `, ${grouped(-days)} days ago` : `, in ${grouped(days)} days`;
  const facts: (readonly [string, string | null])[] = [
    ['license', `${found.license_number} of the ${found.board}`],
    ['holder', found.full_name],
    ['type', found.license_type],
    ['status', found.raw_status ?? 'not stated'],
    ['expires', expiry === null ? 'not stated' : `${expiry}${inDays}`],
    ['place', [found.city, found.state].filter(Boolean).join(', ')],
    ...told('CAUTION', cautions),
    ...(cautions.length === 0 ? [['cautions', 'none'] as const] : []),
    ...told('note', notes),
  ];
  return [...facts.flatMap(([name, value]) => (value ? [`${name.padEnd(10)}${value}`] : [])), ''];
}

const status = z.looseObject({
  service_version: z.string(),
  publication: z
    .object({
      id: z.string(),
      date: z.string(),
      age_in_days: z.int(),
      freshness: z.string(),
      sample: z.boolean(),
      verified_at: z.string().nullable(),
      counts: z.object({ licenses: z.int(), endorsements: z.int() }).nullable(),
    })
    .nullable(),
  licenses_by_board: z.record(z.string(), z.int()),
  last_runs: z
    .array(
      z.object({ publication: z.string(), state: z.string(), at: z.string(), date: z.string().nullable() }),
    )
    .nullable(),
});

async function statusOf(options: ServiceOptions) {
  return answerAs(status, await ask(publicServiceOf(options), { path: '/status' }));
}

/** `licenses status`: what a running service answers from. */
export function statusCommand(): Command {
  const command = new Command('status')
    .description(
      'what a running service answers from, how old it is, and the last publications. Exit 0: fresh, 2: late, stale or nothing published, 1: not answered',
    )
    .option(...JSON_OPTION);
  return withServiceOptions(command).action(async (options: ServiceOptions & JsonOption) => {
    const found = await statusOf(options);
    if (options.json === true) printJson(found);
    else print(statusLines(options.url, found));
    process.exitCode = found.publication?.freshness === 'fresh' ? 0 : LOOK_AT_IT;
  });
}

function statusLines(
  url: string,
  { service_version, publication, last_runs }: z.output<typeof status>,
): string[] {
  const service = `service   ${service_version} at ${url}`;
  const runs = (last_runs ?? []).map((run) => [run.publication, run.state, run.date ?? '', ohioTime(run.at)]);
  const last = runs.length === 0 ? [] : ['', ...table(['PUBLICATION', 'STATE', 'DATE', 'LAST EVENT'], runs)];
  if (publication === null)
    return [
      service,
      'live      nothing is known to be published: publish, or see whether OpenSearch runs',
      ...last,
    ];
  const { id, date, age_in_days: age, freshness, sample, counts, verified_at } = publication;
  return [
    service,
    `live      publication ${id}${verified_at === null ? '' : `, verified ${ohioTime(verified_at)}`}`,
    `dataset   of ${date}, ${age} ${age === 1 ? 'day' : 'days'} old: ${freshness}${sample ? '; generated sample data' : ''}`,
    ...(counts === null
      ? []
      : [`licenses  ${grouped(counts.licenses)} and ${grouped(counts.endorsements)} endorsements`]),
    ...last,
  ];
}

/** `licenses boards`: the codes and names that `--board` takes, and how many licenses each has. */
export function boardsCommand(): Command {
  const command = new Command('boards')
    .description('the boards by code and name, and how many licenses a running service has of each')
    .option(...JSON_OPTION);
  return withServiceOptions(command).action(async (options: ServiceOptions & JsonOption) => {
    const { licenses_by_board: counts } = await statusOf(options);
    const licenses = new Map<string, number>();
    for (const [label, count] of Object.entries(counts))
      addTo(licenses, boardByLabel(label)?.name ?? label, count);
    const boards = BOARDS.map(({ code, name }) => ({ code, name, licenses: licenses.get(name) ?? 0 }));
    if (options.json === true) printJson(boards);
    else
      print(
        table(
          ['CODE', 'BOARD', 'LICENSES'],
          boards.map((each) => [each.code, each.name, grouped(each.licenses)]),
        ),
      );
  });
}
