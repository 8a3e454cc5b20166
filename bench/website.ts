import { brotliCompressSync } from 'node:zlib';
import { print } from '../scripts/processes.ts';
import { drawLicenses } from './load/asked.ts';
import { type Contender, numberAsked, rest, single } from './load/contenders.ts';
import { inRounds } from './load/measure.ts';
import { number, optionsOf } from './options.ts';
import { type WebsiteReport, websiteText } from './reports/website.ts';
import { writeResult } from './result.ts';
import { withService } from './service.ts';

const { rows, rounds } = optionsOf({ rows: number(100_000), rounds: number(5) });

const DRAWN = 20_000;
const REQUESTS_A_ROUND = 2000;
const WARM_UP_SECONDS = 10;
const CONNECTIONS = 16;

/** Compares the API's CPU for a page with that of a REST lookup, alternately, and weighs a page of results. */
await withService(rows, async (service) => {
  const { client, index, api } = service;
  const byRest = rest(service, 'REST, /lookup/verify', REQUESTS_A_ROUND, numberAsked);
  const lookup: Contender = { ...byRest, load: { ...byRest.load, connections: CONNECTIONS } };
  const page = (name: string, path: string, status: number): Contender => ({
    ...{ ...lookup, name },
    load: {
      ...{ ...lookup.load, method: 'GET', path, status, expected: '' },
      headers: { accept: 'text/html', 'accept-encoding': 'gzip' },
    },
    ...single((asked) => encodeURIComponent(asked.number)),
  });
  const contenders = [
    lookup,
    page('page, search by number (redirect)', '/?q=', 303),
    page('page, license with history', '/licenses/NUR/', 200),
  ];
  const persons = await drawLicenses(client, index, { kind: 'person', count: DRAWN });
  const nurses = persons.filter(({ board }) => board === 'Nursing Board');
  const results = await inRounds(contenders, {
    ...{ rounds, warmUpSeconds: WARM_UP_SECONDS },
    drawnFor: () => nurses,
  });
  const micros = Object.entries(results).map(([name, each]) => [name, each.map(({ cpu }) => cpu.API ?? 0)]);
  const smiths = await fetch(`${api}/?q=Smith&kind=person`, { headers: { accept: 'text/html' } });
  const html = Buffer.from(await smiths.arrayBuffer());
  const report: WebsiteReport = {
    rows,
    micros: Object.fromEntries(micros),
    page: { html: html.length, brotli: brotliCompressSync(html).length },
  };
  await writeResult('website', report, client);
  print(websiteText(report));
});
