import type { Client } from '@opensearch-project/opensearch';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { print } from '../scripts/processes.ts';
import { readCsv } from '../src/dataset/csv.ts';
import { type Header, mapHeader } from '../src/dataset/header.ts';
import { licensesOfRow } from '../src/dataset/row-to-licenses.ts';
import { fileText } from '../src/dataset/source-file.ts';
import { numberKey } from '../src/licenses/fold.ts';
import type { LicenseDocument, LicenseRecord } from '../src/licenses/license.ts';
import type { LookupOutcome, LookupRequest } from '../src/licenses/lookup.ts';
import { matchesBusinessName, matchesPersonName } from '../src/licenses/names.ts';
import { SINGLE_LIMITS, searchByIndex } from '../src/lookup/search.ts';
import { lookUp } from '../src/lookup/steps.ts';
import { newId } from '../src/publications/metadata.ts';
import { publish } from '../workers/publish/publish.ts';
import { ALL_ROWS, number, optionsOf } from './options.ts';
import {
  type Cost,
  type Habit,
  type MatchingReport,
  matchingCostText,
  type Verdict,
} from './reports/matching.ts';
import { writeResult } from './result.ts';
import { withEnvironment } from './service.ts';
import { TYPING_ERRORS } from './typing-errors.ts';
import { TYPING_HABITS, type TypingHabit } from './typing-habits.ts';

const { rows } = optionsOf({ rows: number(ALL_ROWS) });

const SEED = 4;
const DATE = '2026-11-20';
const PERSONS = 2000;
const BUSINESSES = 2000;
const AT_ONCE = 8;
const COST_LOOKUPS = 1000;

/** Takes licenses from the whole file at equal distances, as many as wanted. */
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
  for await (const batch of readCsv(fileText(path))) {
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

function verdict(request: LookupRequest, outcome: LookupOutcome, license: LicenseRecord): Verdict {
  const { license_number: number } = license;
  switch (outcome.outcome) {
    case 'found':
      if (outcome.record.license_number === number) return 'found';
      return outcome.nameMatch === true || !hasTyped(request, outcome.record) ? 'wrong' : "somebody else's";
    case 'several': {
      const isThere = outcome.records.some((each) => each.license_number === number);
      if (isThere || outcome.truncated) return 'found';
      return outcome.records.every((each) => hasTyped(request, each)) ? "somebody else's" : 'wrong';
    }
    default:
      return outcome.didYouMean.some((offer) => finds(offer, request, license)) ? 'offered' : 'missed';
  }
}

function hasTyped(request: LookupRequest, record: LicenseRecord): boolean {
  switch (request.by) {
    case 'number':
      return numberKey(record.license_number) === numberKey(request.number);
    case 'person':
      return matchesPersonName(record.full_name, request);
    case 'business':
      return matchesBusinessName(record.full_name, request.name);
  }
}

/** Whether a search for this suggestion finds the license. */
function finds(offer: string, { by }: LookupRequest, license: LicenseRecord): boolean {
  if (by === 'number') return offer === license.license_number;
  if (by === 'business') return matchesBusinessName(license.full_name, offer);
  const [lastName, firstName] = offer.split(', ');
  return matchesPersonName(license.full_name, { lastName, firstName });
}

/** A published dataset and the client to query it. */
interface Published {
  readonly client: Client;
  readonly index: string;
  readonly licenses: readonly LicenseDocument[];
}

/** Measures how often each typing habit finds the license, or gets a suggestion that finds it. */
async function habitsOf(
  { client, index, licenses }: Published,
  habits: readonly TypingHabit[],
): Promise<Habit[]> {
  const search = searchByIndex(client, SINGLE_LIMITS)(index);
  const measured: Habit[] = [];
  for (const habit of habits) {
    const verdicts: Habit['verdicts'] = {};
    const asked = licenses.flatMap((license) => {
      const request = habit.ask(license, license.keys.kind);
      return request === undefined ? [] : [{ request, license }];
    });
    for (let at = 0; at < asked.length; at += AT_ONCE) {
      const batch = asked
        .slice(at, at + AT_ONCE)
        .map(async ({ request, license }) => verdict(request, await lookUp(request, search, true), license));
      for (const each of await Promise.all(batch)) verdicts[each] = (verdicts[each] ?? 0) + 1;
    }
    measured.push({ name: habit.name, lookups: asked.length, verdicts });
    print(`${habit.name}: ${asked.length} lookups, ${JSON.stringify(verdicts)}`);
  }
  return measured;
}

/** A request without a match: a letter or digit is inserted in the middle of the name or number. */
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

/** Compares the cost of a miss with suggestions to that of a hit. They are sent alternately, one at a time. */
async function costsOfMiss({ client, index, licenses }: Published): Promise<Cost[]> {
  const search = searchByIndex(client, SINGLE_LIMITS)(index);
  const costs: Cost[] = [];
  for (const name of ['number in lower case', 'person with three letters', 'business in lower case']) {
    const habit = TYPING_HABITS.find((each) => each.name.startsWith(name));
    const requests = licenses
      .flatMap((license) => habit?.ask(license, license.keys.kind) ?? [])
      .slice(0, COST_LOOKUPS);
    const cost: Cost = { name, hits: [], misses: [], suggested: 0 };
    for (const request of requests) {
      for (const [asked, times] of [
        [request, cost.hits],
        [mistyped(request), cost.misses],
      ] as const) {
        const startedAt = performance.now();
        const outcome = await lookUp(asked, search, true);
        times.push(Number((performance.now() - startedAt).toFixed(3)));
        const isSuggested = 'didYouMean' in outcome && outcome.didYouMean.length > 0;
        if (times === cost.misses && isSuggested) cost.suggested += 1;
      }
    }
    costs.push(cost);
  }
  return costs;
}

await withEnvironment(async ({ store, client, config, folder }) => {
  const files = await writeSampleData({
    directory: folder,
    rows,
    seed: SEED,
    date: DATE,
  });
  const result = await publish(
    {
      publication: newId(),
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
  const report: MatchingReport = {
    rows,
    habits: await habitsOf(published, TYPING_HABITS),
    mistakes: await habitsOf(published, TYPING_ERRORS),
    costs: await costsOfMiss(published),
  };
  await writeResult('matching', report, client);
  print(matchingCostText(report));
});
