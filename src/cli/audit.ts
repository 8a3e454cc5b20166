import { Command } from 'commander';
import { readAudit } from '../storage/audit-log.ts';
import { withOpenSearch } from './open-search.ts';
import { JSON_OPTION, print, printJson, table } from './output.ts';

/** `licenses audit`: who did what, and when. */
export function auditCommand(): Command {
  return new Command('audit')
    .description('what operators did: publications, rollbacks, keys, accounts; the latest first')
    .option(...JSON_OPTION)
    .action((options: { json?: boolean }) =>
      withOpenSearch(async (store) => {
        const entries = await readAudit(store);
        if (options.json === true) return printJson(entries);
        const rows = entries.map(({ at, by, action, details }) => [
          at,
          by,
          action,
          Object.entries(details)
            .map(([name, value]) => `${name} ${value}`)
            .join(', '),
        ]);
        print(table(['AT', 'BY', 'ACTION', 'DETAILS'], rows));
      }),
    );
}
