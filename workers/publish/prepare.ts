import { isDeepStrictEqual } from 'node:util';
import { extraField } from '../../src/changes/change.ts';
import { isPlaceColumn } from '../../src/changes/compare.ts';
import { SERVICE_VERSION } from '../../src/config.ts';
import { isSampleFile } from '../../src/dataset/source-file.ts';
import { todayInOhio } from '../../src/licenses/dates.ts';
import { type PublishResult, summarize } from '../../src/publications/history.ts';
import { readEvents, readLiveEvents } from '../../src/publications/ledger.ts';
import { hashesOf, type LicensesIndex } from '../../src/publications/metadata.ts';
import { recordAudit } from '../../src/storage/audit-log.ts';
import { type FileColumn, guardFiles, namesOf } from './guards.ts';
import { type PublishRun, refused } from './run.ts';
import { FILES, openSources, type Sources } from './sources.ts';

type Skipped = Extract<PublishResult, { state: 'skipped' }>;

/**
 * Fetches and opens both files and runs the file guards.
 *
 * @returns the prepared files, or a skipped result if the live publication has the same files, read by this version
 * @throws {RefusedError} when the files must not be loaded
 */
export async function prepare(run: PublishRun) {
  const { store, config, job, live, baseline, notes } = run;
  await recordAsked(run);
  const { force: forced, accept } = job;
  await run.record({ event: 'reading', service_version: SERVICE_VERSION, forced, accepted: accept });
  const sources = await openSources(run);
  if (live !== undefined && forced === undefined && hasSameFiles(live, sources)) return skip(run, live);

  const date = publicationDate(sources, job.date);
  const known = summarize(await readLiveEvents(store), live?.metadata.publication);
  const rolledBack = known.filter(({ state }) => state === 'rolled_back');
  const { gone, newColumns, newFields } = columnsApart(sources, live?.metadata.sources);
  run.enforce(guardFiles(sources, { date, today: todayInOhio() }, baseline, rolledBack, config));
  const goneColumns = baseline === undefined ? [] : gone;
  const places = [...namesOf(goneColumns)].filter(isPlaceColumn);
  notes.push(...places.map((each) => `The column ${each} is gone: the State may withhold it.`));
  const isSampleData = (await isSampleFile(sources.individual)) || (await isSampleFile(sources.business));
  return {
    /** The publication's run date, `YYYY-MM-DD`. */
    date,
    /** The columns that the State has dropped. */
    goneColumns,
    /**
     * The new columns of a file compared with the live publication's file, and the extra data fields made from them.
     */
    ...{ newColumns, newFields },
    ...{ sources, isSampleData },
  };
}

/** Files that may be loaded. */
export type Prepared = Exclude<Awaited<ReturnType<typeof prepare>>, Skipped>;

/**
 * Finds the columns that only the new or only the live publication's files have. Publications of version 0.2.0 did not
 * record their columns.
 */
function columnsApart(sources: Sources, earlier: LicensesIndex['metadata']['sources']) {
  const gone: FileColumn[] = [];
  const [newColumns, newFields] = [new Set<string>(), new Set<string>()];
  for (const file of FILES) {
    const { named, extra } = sources[file].header;
    const now = named.map(({ name }) => name);
    const before = earlier?.[file].columns ?? now;
    for (const column of before) if (!now.includes(column)) gone.push({ file, column });
    for (const { name, position } of named) {
      if (before.includes(name)) continue;
      newColumns.add(name);
      const label = extra.find((each) => each.position === position)?.label;
      if (label !== undefined) newFields.add(extraField(label));
    }
  }
  return { gone, newColumns, newFields };
}

/** Records who requested the publication, before its first attempt does anything else. A check changes nothing. */
async function recordAsked({ store, look, job }: PublishRun): Promise<void> {
  const { publication, by, force, accept } = job;
  if (by === undefined || look !== undefined) return;
  const events = await readEvents(store, publication);
  if (events.some(({ event }) => event === 'reading')) return;
  await recordAudit(store, 'publish', { publication, force, accept: accept?.join(', ') }, by);
}

/**
 * Whether the live publication has the same files, read by this version. Another version may have made different search
 * keys from the same files.
 */
function hasSameFiles({ metadata }: LicensesIndex, sources: Sources): boolean {
  if (metadata.service_version !== SERVICE_VERSION || metadata.sources === undefined) return false;
  return isDeepStrictEqual(hashesOf(metadata.sources), hashesOf(sources));
}

async function skip(run: PublishRun, { metadata }: LicensesIndex): Promise<Skipped> {
  const { publication: live, date } = metadata;
  const reasons = [`Publication ${live} has the same files and is live.`];
  await run.record({ event: 'skipped', date, same_as: live, reasons });
  return { state: 'skipped', publication: run.job.publication, live, date };
}

/**
 * Returns the files' date. If the two differ, it is the earlier one, so that no answer claims to be more current than
 * it is. `--date` is used only if neither file has a date.
 */
function publicationDate({ individual, business }: Sources, given: string | undefined): string {
  const [earlier] = [individual.runDate, business.runDate].filter((date) => date !== undefined).toSorted();
  if (earlier !== undefined && given !== undefined && given !== earlier) {
    throw refused('no_date', `--date says ${given}, but the files say ${earlier}.`);
  }
  const date = earlier ?? given;
  if (date === undefined) {
    throw refused('no_date', 'Neither file has a QUERY_RUN_DATE; give the date with --date YYYY-MM-DD.');
  }
  return date;
}
