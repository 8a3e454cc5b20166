import { Command } from 'commander';
import { JSON_OPTION } from './output.ts';
import type { PublishOptions } from './publish-and-wait.ts';

/** `licenses publish`: queues a publication and waits. Exit 0 live, 2 refused, 1 failed. */
export function publishCommand(): Command {
  return new Command('publish')
    .description("publish the State's two files: load, check, go live")
    .option(
      '--individual <file>',
      'the individual file, a path or an https URL (default: DATASET_INDIVIDUAL)',
    )
    .option('--business <file>', 'the business file, a path or an https URL (default: DATASET_BUSINESS)')
    .option('--date <date>', 'the run date, YYYY-MM-DD, where the files have none')
    .option('--force <reason>', 'go past the guards; the reason is kept in the ledger')
    .option(...JSON_OPTION)
    .action(async (options: PublishOptions) => {
      // The queue's packages take longer to load than most other commands to run.
      const { publishAndWait } = await import('./publish-and-wait.ts');
      await publishAndWait(options);
    });
}
