import { describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { welcome } from '../../scripts/welcome.ts';
import { accountsCommand } from '../../src/cli/accounts.ts';
import { auditCommand } from '../../src/cli/audit.ts';
import { backupCommand, restoreCommand } from '../../src/cli/backup.ts';
import { keysCommand } from '../../src/cli/keys.ts';
import { pruneCommand, publicationsCommand, rollbackCommand } from '../../src/cli/publications.ts';
import { publishCommand } from '../../src/cli/publish.ts';
import { sampleDataCommand } from '../../src/cli/sample-data.ts';
import { verifyCommand } from '../../src/cli/verify.ts';
import { DOCUMENTED_ADDRESS, DOCUMENTS, documentText } from '../support/documented.ts';

const licenses = new Command('licenses');
licenses.command('serve');
licenses.command('work');
for (const each of [
  accountsCommand(),
  auditCommand(),
  backupCommand(),
  keysCommand(),
  publicationsCommand(),
  publishCommand(),
  restoreCommand(),
  rollbackCommand(),
  pruneCommand(),
  sampleDataCommand(),
  verifyCommand(),
]) {
  licenses.addCommand(each);
}

/** The lines of code blocks that run `licenses`, without what is after a `#`. */
function commandsIn(file: string): string[] {
  const lines = documentText(file).match(/^ {4,}\S.*$/gm) ?? [];
  return lines.flatMap(
    (line) => /^.*\b(?:npx|worker) (licenses [^#]*?)\s*(?:#.*)?$/.exec(line.replace(/ \\$/, ''))?.[1] ?? [],
  );
}

/** What is wrong with a command: a name or an option that it lacks, or too few or too many arguments. */
function problemsOf(line: string): string[] {
  const words = (line.match(/"[^"]*"|\S+/g) ?? []).slice(1);
  let command = licenses;
  for (let next = subcommand(command, words[0]); next !== undefined; next = subcommand(command, words[0])) {
    command = next;
    words.shift();
  }
  const problems: string[] = [];
  const given: string[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith('-')) given.push(word);
    else {
      const option = command.options.find(({ long }) => long === word);
      if (option === undefined) problems.push(`${command.name()} has no ${word}`);
      else if (option.required && words.shift() === undefined) problems.push(`${word} needs a value`);
      else if (option.optional && words[0]?.startsWith('-') === false) words.shift();
    }
  }
  const required = command.registeredArguments.filter((argument) => argument.required).length;
  if (given.length < required) problems.push(`${command.name()} needs ${required} arguments`);
  if (given.length > command.registeredArguments.length) problems.push(`no ${given.join(' ')}`);
  if (command === licenses) problems.push(`no command ${line}`);
  return problems;
}

function subcommand(command: Command, name: string | undefined): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}

test.each([
  ['licenses keys usage ID --days 30', []],
  ['licenses accounts deactivate "Acme Staffing"', []],
  ['licenses publications show ID --rejects', ['--rejects needs a value']],
  ['licenses backup', ['backup needs 1 arguments']],
  ['licenses rollback ID', ['no ID']],
  ['licenses keys revoke ID --force now', ['revoke has no --force', 'no ID now']],
  ['licenses stop', ['no stop', 'no command licenses stop']],
])('%s is checked', (line, problems) => {
  expect(problemsOf(line)).toEqual(problems);
});

describe.each(DOCUMENTS.filter((file) => commandsIn(file).length > 0))('%s', (file) => {
  test('shows commands that exist, with options that they have', () => {
    const wrong = commandsIn(file).flatMap((line) =>
      problemsOf(line).map((problem) => `${line}: ${problem}`),
    );
    expect(wrong).toEqual([]);
  });
});

test('docs/operations.md shows each command of its first section for a checkout and for Docker Compose', () => {
  const [, section = ''] =
    /^## When something is wrong$(.*?)^## /ms.exec(documentText('docs/operations.md')) ?? [];
  const forms = (pattern: RegExp) =>
    [...section.matchAll(pattern)].map(([, command = '']) => command.split(' -')[0]?.trim()).toSorted();
  const ofCheckout = forms(/^ {4,}.*npx licenses ((?:(?:keys|accounts|publications) )?[a-z]+)/gm);
  const ofCompose = forms(/^ {4,}.*worker licenses ((?:(?:keys|accounts|publications) )?[a-z]+)/gm);
  const started = ['serve', 'work'];
  expect(ofCheckout.filter((command) => command === undefined || !started.includes(command))).toEqual(
    ofCompose,
  );
  expect(ofCompose.length).toBeGreaterThan(10);
});

test('the README shows what npm start prints', () => {
  const [, ...lines] = welcome(DOCUMENTED_ADDRESS, 'olv_…', []);
  const shown = lines.slice(0, lines.indexOf('')).map((line) => `    ${line}\n`);
  expect(shown).toHaveLength(5);
  expect(documentText('README.md')).toContain(shown.join(''));
});
