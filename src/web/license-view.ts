import type { Changes } from '../changes/service.ts';
import { BOARDS, type Board } from '../licenses/boards.ts';
import { EXTRA_DATA_LABELS } from '../licenses/extra-data-labels.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import { holderToSearch } from '../licenses/person-name.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/license-history.ts';
import type { Lookups } from '../lookup/service.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { LinkedLicense } from './license-facts.ts';

/** What a license's page shows. Everything is from the same publication. */
export interface LicenseView extends LicenseHistory {
  readonly endorsements: readonly LinkedLicense[];
}

/** What a license's page is read from. */
export interface LicenseServices {
  readonly lookups: Lookups;
  readonly changes: Changes;
}

const MAX_TRIES = 3;

/**
 * Reads a license with its history and its endorsements. When a publication goes live meanwhile, all of it is read
 * again.
 *
 * @throws as `Lookups.lookUp` and `Changes.history`
 */
export async function licenseView(
  services: LicenseServices,
  asked: { readonly board: Board; readonly number: string },
): Promise<LicenseView> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const history = await licenseHistory(services, asked);
    const { record } = history;
    if (record === undefined || !canBeEndorsed(record)) return { ...history, endorsements: [] };
    const found = await endorsementsOf(services.lookups, asked.board, record);
    if (found === undefined) return { ...history, endorsements: [] };
    if (found.publication === history.publication) return { ...history, endorsements: found.endorsements };
  }
  throw new SearchUnavailableError('Publications went live faster than a license could be read.');
}

const ENDORSED_TYPES = new Set(
  BOARDS.flatMap(({ name, license_types }) =>
    license_types.flatMap(({ endorses }) => (endorses === undefined ? [] : [typeKey(name, endorses)])),
  ),
);

function typeKey(board: string, type: string | null): string {
  return `${board}\n${type ?? ''}`;
}

/** Whether the catalog has license types that endorse this one's. */
function canBeEndorsed({ board, license_type: type }: LicenseRecord): boolean {
  return ENDORSED_TYPES.has(typeKey(board, type));
}

/**
 * The licenses that name this one as the license that they endorse. They have the same holder.
 *
 * @returns `undefined` when the holder's name has no letter and no digit, so that none can be searched for
 */
async function endorsementsOf(
  lookups: Lookups,
  board: Board,
  { full_name: name, license_number: number }: LicenseRecord,
): Promise<{ publication: string; endorsements: readonly LinkedLicense[] } | undefined> {
  const holder = holderToSearch(name);
  if (holder === undefined) return undefined;
  const { outcome, publication } = await lookups.lookUp({ by: 'person', board, ...holder, filters: {} });
  const sameName =
    outcome.outcome === 'record' ? [outcome.record] : outcome.outcome === 'matches' ? outcome.records : [];
  return {
    publication,
    endorsements: sameName
      .filter(({ extra_data: extra }) => extra[EXTRA_DATA_LABELS.endorsedLicense] === number)
      .map((each) => ({ number: each.license_number, type: each.license_type, status: each.raw_status })),
  };
}
