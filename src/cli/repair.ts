import { Command } from 'commander';
import { isEpochId } from '../publications/fence.ts';
import { repairEpoch, repairFeed, repairMetadata } from '../publications/repair.ts';
import { recordAudit } from '../storage/audit-log.ts';
import { type Repaired, repairDocuments } from '../storage/repair.ts';
import type { Store } from '../storage/store.ts';
import { withOpenSearch } from './open-search.ts';
import { print, printJson, table } from './output.ts';
import { DOCUMENT_CHECKS } from './stored-documents.ts';

/** `licenses publications repair`: stored documents that are not valid. */
export function repairCommand(): Command {
  return new Command('repair')
    .description('list the stored documents that are not valid; all readers leave them out')
    .option('--delete', 'delete them, or the parts of them that are not valid')
    .action((options: { delete?: boolean }, command: Command) =>
      withOpenSearch(async (store) => {
        const isDeleting = options.delete === true;
        const found = isDeleting ? await repairAll(store) : await badDocuments(store, false);
        if (command.optsWithGlobals<{ json?: boolean }>().json === true) return printJson(found);
        if (found.length === 0) return print('Every stored document is valid.');
        const rows = found.map(({ index, id, problem, action }) => [index, id, problem, action]);
        print(table(['INDEX', 'DOCUMENT', 'NOT VALID', 'DONE'], rows));
        if (!isDeleting)
          print('Nothing was changed. --delete deletes them, or the parts that are not valid.');
      }),
    );
}

async function badDocuments(store: Store, isRepaired: boolean): Promise<Repaired[]> {
  return [
    ...(await repairMetadata(store, isRepaired)),
    ...(await repairDocuments(store, DOCUMENT_CHECKS, isRepaired)),
    ...(await repairFeed(store, isRepaired)),
  ];
}

async function repairAll(store: Store): Promise<Repaired[]> {
  const isEpoch = ({ index, id }: Repaired) => index === store.names.ledger && isEpochId(id);
  const epochs = (await badDocuments(store, false)).filter(isEpoch);
  if (epochs.length > 0) await repairEpoch(store);
  const found = [
    ...epochs.map((epoch): Repaired => ({ ...epoch, action: 'repaired' })),
    ...(await badDocuments(store, true)),
  ];
  if (found.length > 0) await recordAudit(store, 'repair', { documents: inWords(found) });
  return found;
}

const MAX_NAMED = 100;

function inWords(found: readonly Repaired[]): string {
  const named = found.slice(0, MAX_NAMED).map(({ index, id, action }) => `${index}/${id} ${action}`);
  return found.length > MAX_NAMED
    ? `${named.join(', ')} and ${found.length - MAX_NAMED} more`
    : named.join(', ');
}
