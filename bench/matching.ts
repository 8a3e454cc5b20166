import type { Client } from '@opensearch-project/opensearch';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { readCsv } from '../src/dataset/csv.ts';
import { type Header, mapHeader } from '../src/dataset/header.ts';
import { licensesOfRow } from '../src/dataset/row-to-licenses.ts';
import { fileText } from '../src/dataset/source-file.ts';
import type { LicenseDocument } from '../src/licenses/license-document.ts';
import type { LookupOutcome } from '../src/licenses/lookup-outcome.ts';
import type { LookupRequest } from '../src/licenses/lookup-request.ts';
import { lookUp } from '../src/lookup/lookup-steps.ts';
import { nearSurnames, searchAlone } from '../src/lookup/opensearch-requests.ts';
import { searchBody } from '../src/lookup/search-bodies.ts';
import { newRunId } from '../src/publications/run-id.ts';
import { publish } from '../workers/publish/publish.ts';
import { median } from './median.ts';
import { withEnvironment } from './service.ts';
import { TYPING_HABITS } from './typing-habits.ts';

const ROWS = 300_000;
const SEED = 4;
const DATE = '2026-11-20';
const PERSONS = 2000;
const BUSINESSES = 2000;
const AT_ONCE = 8;
const COST_LOOKUPS = 1000;

type Verdict = 'found' | 'wrong holder' | 'missed';

/** Every n-th license of a file, so that as many as wanted are drawn from all over it. */
async function sampleOf(
  file: 'individual' | 'business',
  path: string,
  rows: number,
  wanted: number,
): Promise<LicenseDocument[]> {
  const step = Math.max(1, Math.floor(rows / wanted));
  const documents: LicenseDocument[] = [];
  let header: Header | undefined;
  let at = 0;
  for await (const batch of readCsv(fileText({ path, encoding: 'utf-8' }))) {
    for (const row of batch) {
      if (header === undefined) header = mapHeader(file, row.fields);
      else if (at++ % step === 0) {
        const parsed = licensesOfRow(row, header, DATE);
        if ('documents' in parsed) documents.push(...parsed.documents);
      }
    }
  }
  return documents.slice(0, wanted);
}

function verdict(outcome: LookupOutcome, number: string): Verdict {
  switch (outcome.outcome) {
    case 'record':
      return outcome.record.license_number === number ? 'found' : 'wrong holder';
    case 'matches': {
      const isThere = outcome.records.some(({ license_number }) => license_number === number);
      return isThere || outcome.truncated ? 'found' : 'missed';
    }
    default:
      return 'missed';
  }
}

/** One published dataset, and how it is asked. */
interface Published {
  readonly client: Client;
  readonly index: string;
  readonly licenses: readonly LicenseDocument[];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** How often each typing habit finds the holder it asks for. */
async function printRates({ client, index, licenses }: Published): Promise<void> {
  print('| habit | asked | found | wrong holder | missed |\n| --- | ---: | ---: | ---: | ---: |');
  for (const habit of TYPING_HABITS) {
    const counts: Record<Verdict, number> = { found: 0, 'wrong holder': 0, missed: 0 };
    const asked = licenses.flatMap((license) => {
      const request = habit.ask(license, license.keys.kind);
      return request === undefined ? [] : [{ request, number: license.license_number }];
    });
    for (let at = 0; at < asked.length; at += AT_ONCE) {
      const verdicts = asked.slice(at, at + AT_ONCE).map(async ({ request, number }) => {
        const outcome = await lookUp(request, (query) => searchAlone(client, index, searchBody(query)));
        return verdict(outcome, number);
      });
      for (const each of await Promise.all(verdicts)) counts[each] += 1;
    }
    const share = ((100 * counts.found) / asked.length).toFixed(2);
    print(
      `| ${habit.name} | ${asked.length} | ${counts.found} (${share} %) | ${counts['wrong holder']} | ${counts.missed} |`,
    );
  }
}

/** A request that misses: the name or number with a letter or digit put in its middle. */
function mistyped(request: LookupRequest): LookupRequest {
  const broken = (text: string, extra: string) => {
    const middle = Math.ceil(text.length / 2);
    return text.slice(0, middle) + extra + text.slice(middle);
  };
  switch (request.by) {
    case 'number':
      return { ...request, number: broken(request.number, '0') };
    case 'person':
      return { ...request, lastName: broken(request.lastName, 'q') };
    case 'business':
      return { ...request, name: broken(request.name, 'q') };
  }
}

/** What a miss with its suggestions costs against a hit, asked in turn, one at a time. */
async function printCostOfMiss({ client, index, licenses }: Published): Promise<void> {
  print(
    '\n| lookup | hit, median ms | miss, median ms | ratio | misses with a suggestion |\n| --- | ---: | ---: | ---: | ---: |',
  );
  for (const name of ['number in lower case', 'person with three letters', 'business in lower case']) {
    const habit = TYPING_HABITS.find((each) => each.name.startsWith(name));
    const requests = licenses
      .flatMap((license) => habit?.ask(license, license.keys.kind) ?? [])
      .slice(0, COST_LOOKUPS);
    const [hits, misses]: [number[], number[]] = [[], []];
    let suggested = 0;
    for (const request of requests) {
      for (const [asked, times] of [
        [request, hits],
        [mistyped(request), misses],
      ] as const) {
        const startedAt = performance.now();
        const outcome = await lookUp(
          asked,
          (query) => searchAlone(client, index, searchBody(query)),
          (query) => nearSurnames(client, index, query),
        );
        times.push(performance.now() - startedAt);
        if (times === misses && 'didYouMean' in outcome && outcome.didYouMean.length > 0) suggested += 1;
      }
    }
    const [hit, miss] = [median(hits), median(misses)];
    print(
      `| ${name} | ${hit.toFixed(2)} | ${miss.toFixed(2)} | ${(miss / hit).toFixed(2)} | ${suggested} of ${misses.length} |`,
    );
  }
}

await withEnvironment(async ({ store, client, config, folder }) => {
  const files = await writeSampleData({ directory: folder, rows: ROWS, seed: SEED, date: DATE });
  const result = await publish(
    {
      publication: newRunId(),
      individual: { location: files.individual },
      business: { location: files.business },
    },
    { store, config, signal: new AbortController().signal, onProgress: () => undefined },
  );
  if (result.state !== 'live') throw new Error(JSON.stringify(result));
  const licenses = [
    ...(await sampleOf('individual', files.individual, files.individualRows, PERSONS)),
    ...(await sampleOf('business', files.business, files.businessRows, BUSINESSES)),
  ];
  const published = { client, index: result.index, licenses };
  await printRates(published);
  await printCostOfMiss(published);
});
