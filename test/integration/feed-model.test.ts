/** @room changes */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { testEnvironment } from '../../scripts/environment.ts';
import { recordHash, writeDigest } from '../../src/changes/digest.ts';
import { newFeed } from '../../src/changes/feed.ts';
import { CursorExpiredError, changesService } from '../../src/changes/service.ts';
import { writeSwitch } from '../../src/changes/stored-feed.ts';
import { SERVICE_VERSION } from '../../src/config.ts';
import { type LicenseRecord, licenseDocument, recordText } from '../../src/licenses/license.ts';
import { flip } from '../../src/publications/fence.ts';
import { liveEvent, reconcileLedger } from '../../src/publications/history.ts';
import { appendEvent } from '../../src/publications/ledger.ts';
import { liveFeed, writeFeed } from '../../src/publications/live-feed.ts';
import { newId } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { licensesIndexName } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { compare } from '../../workers/publish/compare.ts';
import { BoardLicenses } from '../../workers/publish/profile.ts';
import { beginRun, RefusedError } from '../../workers/publish/run.ts';
import { Tally } from '../../workers/publish/tally.ts';
import { documentsIn } from '../support/documents.ts';
import { takeEpoch } from '../support/epoch.ts';
import { inForm, SEED } from '../support/fault-form.ts';
import { copyOf, licensesInIndex } from '../support/feed-copy.ts';

const KEEP = 3;

/** What a publication says: the city of each license that it has, by number. */
type Day = Readonly<Record<string, string>>;

/** What was visible once: the publication, and the cursor that a follower got. */
interface Seen {
  readonly day: Day;
  readonly cursor: string;
  /** Whether the feed may end for it: with 410, never with a change left out. */
  readonly mayEnd: boolean;
}

/** What the feed must be: what each publication says, which one is live, and what followers have seen. */
interface Model {
  days: ReadonlyMap<string, Day>;
  live: string;
  /** The publications that the feed knows. */
  known: ReadonlySet<string>;
  seen: readonly Seen[];
}

let date = 0;
/** The changes of publications that were killed, as a process that wakes up late writes them. */
let late: { readonly id: string; readonly source: unknown }[] = [];

const environment = await testEnvironment({ CHANGES_KEPT_DAYS: '30' });
const { client, config, store } = environment;
await prepareIndices(store);
const watched = async () => new Map();
const changes = changesService(store, () => liveFeed(store), watched);

const recordsOf = (day: Day): LicenseRecord[] =>
  Object.entries(day).map(([license_number, city]) => ({
    ...{ license_number, full_name: 'DOE, JANE', board: 'Nursing Board', license_type: null, city },
    ...{ status: 'ACTIVE', expiry_date: null, state: 'OH', raw_status: 'Active', county: null },
    ...{ issue_date: null, extra_data: {} },
  }));

const idOf = ({ license_number }: LicenseRecord) => `NUR/${license_number}`;

/** How far a publication comes before it is killed. */
const MOMENTS = ['changes are stored', 'the feed is written', 'it is live'] as const;

/** Publishes a day as the worker does, without files. @returns the publication */
async function publishDay(
  day: Day,
  { killedOnce, force }: { killedOnce?: (typeof MOMENTS)[number] | undefined; force?: string } = {},
): Promise<string> {
  await reconcileLedger(store);
  const publication = newId();
  const epoch = await takeEpoch(store, publication);
  date += 1;
  const sha256 = recordHash(JSON.stringify(day));
  const file = { name: 'file', sha256, bytes: 1, rows: 1, columns: [] };
  const begun = {
    ...{ publication, epoch, sample: false, service_version: SERVICE_VERSION },
    date: new Date(date * 86_400_000).toISOString().slice(0, 10),
    started_at: new Date().toISOString(),
    sources: { individual: file, business: file },
  };
  const index = licensesIndexName(store.prefix, begun.date, newId());
  const settings = { number_of_shards: 1, auto_expand_replicas: 'false', number_of_replicas: 0 };
  await client.indices.create({ index, body: { settings, mappings: { _meta: begun } } });
  const records = recordsOf(day);
  const [tally, parts] = [new Tally(), new BoardLicenses()];
  tally.boards.set('Nursing Board', parts);
  for (const record of records) {
    tally.digest.add({ id: idOf(record), record: recordHash(recordText(record)), row: date });
    parts.persons.add({ ...record, source_row: '' }, 1);
  }
  const operations = records.flatMap((record) => [
    { index: { _id: idOf(record) } },
    licenseDocument(record, 'person', 'individual:1:0'),
  ]);
  await client.bulk({ index, refresh: true, body: operations });
  await writeDigest(store, index, tally.digest);
  const run = await beginRun(
    { publication, individual: { location: '' }, business: { location: '' }, force },
    { store, config, signal: new AbortController().signal, onProgress: () => undefined },
  );
  const made = await compare(run, {
    ...{ index, metadata: begun, tally },
    ...{ goneColumns: [], newColumns: new Set<string>(), newFields: new Set<string>() },
  });
  if (killedOnce === 'changes are stored') return publication;
  const metadata = await writeFeed(store, { index, metadata: begun }, made, epoch);
  if (killedOnce === 'the feed is written') return publication;
  // An operator prunes while it is under way.
  if (date % 3 === 0) await prune(store, KEEP);
  await flip(store, { to: index, epoch });
  if (killedOnce !== 'it is live') await appendEvent(store, liveEvent(index, metadata));
  return publication;
}

async function put(index: string, documents: readonly { id: string; source: unknown }[]): Promise<void> {
  const body = documents.flatMap(({ id, source }) => [{ index: { _id: id } }, Object(source)]);
  if (body.length > 0) await environment.client.bulk({ index, body, refresh: true });
}

/** Deletes every publication, and what the ledger and the feed know. */
async function loseAll(): Promise<void> {
  const { licensesPattern, digestsPattern, ledger, changes } = store.names;
  await client.indices.delete({ index: [licensesPattern, digestsPattern] });
  await client.indices.refresh({ index: [ledger, changes] });
  const body = { query: { match_all: {} } };
  await client.deleteByQuery({ index: [ledger, changes], refresh: true, conflicts: 'proceed', body });
}

const CITIES = fc.constantFrom('AKRON', 'LIMA', 'TROY');
const day = fc
  .dictionary(fc.constantFrom('RN.1', 'RN.2', 'RN.3', 'RN.4', 'RN.5'), CITIES)
  .map((each): Day => ({ 'RN.0': 'XENIA', ...each }));

const does = <Name extends string>(name: Name) => fc.constant(name);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ does: does('publish'), day }) },
  { weight: 2, arbitrary: fc.record({ does: does('kill'), day, at: fc.constantFrom(...MOMENTS) }) },
  fc.record({ does: does('refuse'), day }),
  { weight: 2, arbitrary: fc.record({ does: does('roll back'), to: fc.option(fc.nat(5)) }) },
  fc.record({ does: fc.constantFrom('late write' as const, 'prune' as const) }),
  { weight: 2, arbitrary: fc.record({ does: does('restore'), day: fc.option(day), ago: fc.nat(3) }) },
  fc.record({ does: does('trim'), day }),
);

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

async function backedUp(model: Model) {
  const { ledger, changes } = store.names;
  await reconcileLedger(store);
  return { model, ledger: await documentsIn(store, ledger), changes: await documentsIn(store, changes) };
}

let backups: Awaited<ReturnType<typeof backedUp>>[] = [];

const ended = (seen: readonly Seen[]) => seen.map((each) => ({ ...each, mayEnd: true }));

const wentLive = (model: Model, publication: string, day: Day) => ({
  ...{ live: publication, seen: model.seen },
  days: new Map([...model.days, [publication, day]]),
  known: new Set([...model.known, publication]),
});

/** Takes a step. @returns what must be so afterwards */
async function taken(model: Model, each: Step): Promise<Model> {
  const { ledger, changes } = store.names;
  switch (each.does) {
    case 'publish':
      return wentLive(model, await publishDay(each.day, FORCED), each.day);
    case 'refuse': {
      const other = Object.fromEntries(Object.keys(each.day).map((number) => [number, 'REFUSED']));
      await expect(publishDay(other)).rejects.toThrow(RefusedError);
      return model;
    }
    case 'kill': {
      const publication = await publishDay(each.day, { ...FORCED, killedOnce: each.at });
      if (each.at === 'it is live') return wentLive(model, publication, each.day);
      late.push(...(await documentsIn(store, changes, { term: { publication } })));
      return model;
    }
    case 'late write': {
      await put(changes, late);
      const { index } = await liveFeed(store);
      const state = newFeed({ publication: 'late', epoch: 0, date: '2026-01-01' });
      const old = { index, epoch: 0, publication: 'late', state };
      await expect(writeSwitch(store, old)).rejects.toThrow('version_conflict');
      return model;
    }
    case 'roll back': {
      const wanted = each.to === null ? undefined : [...model.days.keys()].at(-1 - each.to);
      const back = await rollBack(store, wanted).catch((error: unknown) => String(error));
      if (typeof back === 'string') {
        expect(back).toMatch(/to roll back to/);
        return model;
      }
      const live = back.to.metadata.publication;
      if (model.known.has(live)) return { ...model, live };
      return { ...model, live, known: new Set([live]), seen: ended(model.seen) };
    }
    case 'prune':
      await prune(store, KEEP);
      return model;
    case 'restore': {
      const backup = backups.at(-1 - each.ago) ?? backups[0];
      if (backup === undefined) return model;
      await loseAll();
      await put(ledger, backup.ledger);
      await put(changes, backup.changes);
      const before = backup.model;
      const same = before.days.get(before.live) ?? {};
      const day = each.day ?? same;
      const isSame = JSON.stringify(day) === JSON.stringify(same);
      const seen = isSame ? before.seen : ended(before.seen);
      const lost = ended(
        model.seen.filter(({ cursor }) => !before.seen.some((known) => known.cursor === cursor)),
      );
      const publication = await publishDay(day, FORCED);
      return { ...wentLive({ ...before, known: new Set() }, publication, day), seen: [...seen, ...lost] };
    }
    case 'trim': {
      const { index } = await liveFeed(store);
      const script = "for (each in ctx._source.state) each.at = '2000-01-01T00:00:00.000Z'";
      const query = { ids: { values: [`switch-${index}`] } };
      await client.indices.refresh({ index: changes });
      const body = { query, script: { source: script } };
      await client.updateByQuery({ index: changes, refresh: true, body });
      const publication = await publishDay(each.day, FORCED);
      const trimmed = wentLive({ ...model, known: new Set([model.live]) }, publication, each.day);
      return { ...trimmed, seen: ended(model.seen) };
    }
  }
}

const FORCED = { force: 'the model says so' };
const FOLLOWERS = 6;

/** What a follower has after it has read the feed; `undefined` where the feed has ended for it. */
async function caughtUp({ day, cursor }: Seen): Promise<Day | undefined> {
  const copy = new Map(Object.entries(day));
  try {
    for (let page = await changes.page({ since: cursor, limit: 3 }); ; ) {
      for (const { kind, license_number: number, fields } of page.changes) {
        expect([number, kind !== 'added']).toEqual([number, copy.has(number)]);
        if (kind === 'removed') copy.delete(number);
        else copy.set(number, fields.city?.after ?? copy.get(number) ?? '');
      }
      if (!page.more) return Object.fromEntries(copy);
      page = await changes.page({ since: page.next, limit: 3 });
    }
  } catch (error) {
    if (error instanceof CursorExpiredError) return undefined;
    throw error;
  }
}

/** Compares what is live, and every follower's copy, with the model. @returns it, with what is seen now */
async function checked(model: Model): Promise<Model> {
  const day = model.days.get(model.live) ?? {};
  const { index } = await liveFeed(store);
  expect(await licensesInIndex(store, index)).toEqual(copyOf(recordsOf(day)));
  for (const seen of model.seen.slice(-FOLLOWERS)) {
    const copy = await caughtUp(seen);
    if (copy !== undefined || !seen.mayEnd) expect(copy).toEqual(day);
  }
  const { next: cursor } = await changes.page({ since: 'latest', limit: 1 });
  return { ...model, seen: [...model.seen, { day, cursor, mayEnd: false }] };
}

test(
  'whatever is published, killed, rolled back and restored, a copy that follows the feed is a fresh export or gets 410',
  async () => {
    const sequence = fc.array(step, { minLength: 3, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(day, sequence, async (first, steps) => {
        await loseAll();
        [late, backups] = [[], []];
        const live = await publishDay(first, FORCED);
        const begun = { days: new Map([[live, first]]), live, known: new Set([live]), seen: [] };
        let model = await checked(begun);
        for (const each of steps) {
          if (each.does === 'publish') backups.push(await backedUp(model));
          model = await checked(await taken(model, each));
        }
      }),
      { seed: SEED, numRuns: inForm({ short: 20, long: 200 }), endOnFailure: true },
    );
  },
  inForm({ short: 300_000, long: 3_600_000 }),
);
