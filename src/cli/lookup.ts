import { Command } from 'commander';
import { z } from 'zod';
import { responseRecord } from '../answers/view.ts';
import { CAUTION_WORDS, NOTE_WORDS } from '../answers/words.ts';
import { boardActivity } from '../changes/board-activity.ts';
import { BOARDS, boardByLabel } from '../licenses/boards.ts';
import { addTo } from '../licenses/counts.ts';
import { ohioTime } from '../licenses/dates.ts';
import { boardName } from './options.ts';
import { grouped, print, printJson, table } from './output.ts';
import { answerAs, ask, openService, type ServiceOptions, withServiceOptions } from './service-client.ts';
import { JSON_OPTION, type JsonOption } from './store-command.ts';

/** Exit codes beside 0: what a script must not take for a good answer. */
const LOOK_AT_IT = 2;
const NOT_FOUND = 3;

/** An earlier service sends less, a later one more, also cautions that this version does not know. */
const record = responseRecord
  .extend({ cautions: z.array(z.string()), notes: z.array(z.string()).default([]) })
  .partial({ data_age_days: true })
  .loose();

const result = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('found'), record }),
  z.object({ outcome: z.literal('ambiguous'), matches: z.array(record) }),
  z.object({ outcome: z.literal('not_found'), detail: z.string(), did_you_mean: z.array(z.string()) }),
  z.object({ outcome: z.literal('invalid'), detail: z.string() }),
]);

const lookupAnswer = z.object({ last_scraped: z.string(), results: z.tuple([result]) });

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
  const service = openService(options, { needsKey: true });
  const item = { license_number: number, ...(options.board !== undefined && { board: options.board }) };
  const body = JSON.stringify({ items: [item] });
  const request = { path: '/api/v1/lookup/batch', contentType: 'application/json', body };
  const { last_scraped, results } = answerAs(lookupAnswer, await ask(service, request));
  const [only] = results;
  if (only.outcome === 'invalid') throw new Error(only.detail);
  const sample = (await readStatus(options)).publication?.sample ?? false;
  const found = only.outcome === 'found' ? [only.record] : only.outcome === 'ambiguous' ? only.matches : [];
  const miss = only.outcome === 'not_found' ? { detail: only.detail, did_you_mean: only.did_you_mean } : null;
  if (options.json === true) printJson({ last_scraped, sample, found, miss });
  else {
    for (const each of found) print(recordLines(each));
    const date = last_scraped.slice(0, 10);
    print(miss?.detail ?? `In the State's dataset of ${date}. The issuing board is the authority.`);
    if (sample) print('SAMPLE DATA: generated, of no real person or business.');
  }
  if (miss !== null) return NOT_FOUND;
  return found.length === 1 && found[0]?.cautions.length === 0 ? 0 : LOOK_AT_IT;
}

const MEANINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...CAUTION_WORDS, ...NOTE_WORDS }).map(([code, { meaning }]) => [code, meaning] as const),
);

function recordLines(found: z.output<typeof record>): string[] {
  const { expiry_date: expiry, days_until_expiry: days, cautions, notes } = found;
  const inDays =
    days === null ? '' : days < 0 ? `, ${grouped(-days)} days ago` : `, in ${grouped(days)} days`;
  const meaning = (code: string) => `${code}: ${MEANINGS.get(code) ?? 'see the documents of the service'}`;
  const facts: (readonly [string, string | null])[] = [
    ['license', `${found.license_number} of the ${found.board}`],
    ['holder', found.full_name],
    ['type', found.license_type],
    ['status', found.raw_status ?? 'not stated'],
    ['expires', expiry === null ? 'not stated' : `${expiry}${inDays}`],
    ['place', [found.city, found.state].filter(Boolean).join(', ')],
    ...cautions.map((caution) => ['CAUTION', meaning(caution)] as const),
    ...(cautions.length === 0 ? [['cautions', 'none'] as const] : []),
    ...notes.map((note) => ['note', meaning(note)] as const),
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
  board_activity: z.record(z.string(), boardActivity).default({}),
  last_runs: z
    .array(
      z.object({ publication: z.string(), state: z.string(), at: z.string(), date: z.string().nullable() }),
    )
    .nullable(),
});

async function readStatus(options: ServiceOptions) {
  return answerAs(status, await ask(openService(options), { path: '/status' }));
}

/** `licenses status`: what a running service answers from. */
export function statusCommand(): Command {
  const command = new Command('status')
    .description(
      'what a running service answers from, how old it is, and the last publications. Exit 0: fresh, 2: late, stale or nothing published, 1: not answered',
    )
    .option(...JSON_OPTION);
  return withServiceOptions(command).action(async (options: ServiceOptions & JsonOption) => {
    const found = await readStatus(options);
    if (options.json === true) printJson(found);
    else print(statusLines(openService(options).url, found));
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
  if (publication === null) {
    const nothing = 'live      nothing is known to be published: publish, or see whether OpenSearch runs';
    return [service, nothing, ...last];
  }
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

/** `licenses boards`: the codes and names that `--board` takes, how many licenses each has, and how active it is. */
export function boardsCommand(): Command {
  const command = new Command('boards')
    .description(
      'the boards by code and name; how many licenses a running service has of each, when one of them changed last, and how many usually change in a day',
    )
    .option(...JSON_OPTION);
  return withServiceOptions(command).action(async (options: ServiceOptions & JsonOption) => {
    const { licenses_by_board: counts, board_activity } = await readStatus(options);
    const activity = new Map(Object.entries(board_activity));
    const licenses = new Map<string, number>();
    for (const [label, count] of Object.entries(counts))
      addTo(licenses, boardByLabel(label)?.name ?? label, count);
    const boards = BOARDS.map(({ code, name }) => {
      const { last_changed = null, usual_changes_per_day = null } = activity.get(name) ?? {};
      return { code, name, licenses: licenses.get(name) ?? 0, last_changed, usual_changes_per_day };
    });
    if (options.json === true) return printJson(boards);
    const rows = boards.map(({ code, name, licenses, last_changed: last, usual_changes_per_day: usual }) => [
      ...[code, name, grouped(licenses), last ?? '-'],
      usual === null ? '-' : grouped(usual),
    ]);
    print(table(['CODE', 'BOARD', 'LICENSES', 'CHANGED', 'A DAY'], rows));
  });
}
