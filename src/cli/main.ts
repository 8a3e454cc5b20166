#!/usr/bin/env node
import { Command } from 'commander';
import { SERVICE_VERSION } from '../config.ts';
import { fileTrouble } from '../storage/errors.ts';
import { accountsCommand, auditCommand, keysCommand } from './access.ts';
import { addExamples } from './examples.ts';
import { boardsCommand, lookupCommand, statusCommand } from './lookup.ts';
import { printError } from './output.ts';
import { pruneCommand, publicationsCommand, publishCommand, rollbackCommand } from './publications.ts';
import type { CheckFiles } from './publish.ts';
import { sampleDataCommand } from './sample-data.ts';
import { backupCommand, restoreCommand } from './stored-documents.ts';
import { verifyCommand } from './verify.ts';
import { watchCommand } from './watch.ts';
import { webhooksCommand } from './webhooks.ts';

/** `licenses` with all its commands. */
export const program = new Command('licenses')
  .description('Operates the Ohio License Verification Service')
  .version(SERVICE_VERSION)
  .showHelpAfterError();

program
  .command('serve')
  .description('run the API process: REST, MCP and the website')
  .action(async () => {
    const { serve } = await import('../server.ts');
    await serve();
  });
program
  .command('work')
  .description('run the worker process, which publishes')
  .action(async () => {
    const { work } = await import('../../workers/main.ts');
    await work();
  });
/** What `publish --check` and `publications diff` do to files, in this process. */
const checkFiles: CheckFiles = async (...given) => {
  const { checkFiles: check } = await import('../../workers/publish/check.ts');
  return check(...given);
};
program.addCommand(publishCommand(checkFiles));
program.addCommand(publicationsCommand(checkFiles));
program.addCommand(rollbackCommand());
program.addCommand(pruneCommand());
program.addCommand(keysCommand());
program.addCommand(accountsCommand());
program.addCommand(auditCommand());
program.addCommand(backupCommand());
program.addCommand(restoreCommand());
program.addCommand(sampleDataCommand());
program.addCommand(statusCommand());
program.addCommand(lookupCommand());
program.addCommand(boardsCommand());
program.addCommand(verifyCommand());
program.addCommand(watchCommand());
program.addCommand(webhooksCommand());
addExamples(program);

/** What a program that SIGPIPE ends exits with. */
const EXIT_PIPE_CLOSED = 141;

if (import.meta.main) {
  // As by `licenses audit | head`, which has read enough.
  process.stdout.on('error', () => process.exit(EXIT_PIPE_CLOSED));
  try {
    await program.parseAsync();
  } catch (error) {
    const words = fileTrouble(error) ?? (error instanceof Error ? error.message : String(error));
    printError(words.split('\n'));
    // `serve` and `work` may have begun to listen.
    process.exit(1);
  }
}
