import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import commands from '../../data/commands.json' with { type: 'json' };
import { welcome } from '../../scripts/welcome.ts';
import { actionOf, type CommandWords, program } from '../../src/cli/main.ts';
import { DOCUMENTED_ADDRESS, DOCUMENTS, documentText } from '../support/documented.ts';

/** Thrown in place of what a command would do, once commander has accepted its options and arguments. */
class Accepted extends Error {}

program.hook('preAction', () => {
  throw new Accepted();
});

/** Makes commander throw what it would print before it exits. */
function throwErrors(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  command.commands.forEach(throwErrors);
}
throwErrors(program);

/** Why commander refuses a command line; `undefined` if it accepts it. */
async function problemOf(line: string): Promise<string | undefined> {
  const [, ...words] = line.match(/"[^"]*"|\S+/g) ?? [];
  const ended: unknown = await program.parseAsync(words, { from: 'user' }).catch((error: unknown) => error);
  return ended instanceof Accepted ? undefined : `${line}: ${ended}`;
}

/** The lines of code blocks that run `licenses`, without what is after a `#`, and where their output goes. */
const commandsIn = (file: string) =>
  (documentText(file).match(/^ {4,}\S.*$/gm) ?? []).flatMap(
    (line) =>
      /^.*\b(?:npx|worker) (licenses [^#&|>]*?)\s*(?:[#&|>].*)?$/.exec(line.replace(/ \\$/, ''))?.[1] ?? [],
  );

test('every command has its words, its examples are commands that exist, and something is written for each', async () => {
  for (const [path, { description, examples = [] }] of Object.values(commands).flatMap((group) =>
    Object.entries<CommandWords>(group),
  )) {
    expect(description).not.toBe('');
    for (const line of examples)
      expect(await problemOf(line.replace(/^(?:[A-Z_]+=\S+ )*npx /, ''))).toBeUndefined();
    if (examples.length > 0) expect([path, typeof (await actionOf(path))]).toEqual([path, 'function']);
  }
});

test.each([
  ['licenses accounts deactivate "Acme Staffing"', /^undefined$/],
  ['licenses publications show ID --rejects', /option '--rejects <file>' argument missing/],
  ['licenses rollback ID', /too many arguments/],
  ['licenses keys revoke ID --force now', /unknown option '--force'/],
  ['licenses stop', /unknown command 'stop'/],
])('%s is checked', async (line, expected) => {
  expect(String(await problemOf(line))).toMatch(expected);
});

describe.each(DOCUMENTS.filter((file) => commandsIn(file).length > 0))('%s', (file) => {
  test('shows commands that exist, with options that they have', async () => {
    for (const line of commandsIn(file)) expect(await problemOf(line)).toBeUndefined();
  });
});

test('examples leave their folder for npx licenses: in it, npm would ask to install another package', () => {
  const lines = DOCUMENTS.filter((file) => file.startsWith('examples/')).flatMap(
    (file) => documentText(file).match(/^.*npx licenses.*$/gm) ?? [],
  );
  expect(lines).not.toHaveLength(0);
  for (const line of lines) expect(line).toMatch(/^ {4}\(cd \.\.\/\.\. && /);
});

test('the help of a command shows its examples', () => {
  let help = '';
  program.commands
    .find((each) => each.name() === 'rollback')
    ?.configureOutput({ writeOut: (text) => (help += text) })
    .outputHelp();
  expect(help).toMatch(/Examples:\n {2}npx licenses rollback\n {2}npx licenses rollback --to \w+\n$/);
});

test('the README shows what npm start prints', () => {
  const [, ...lines] = welcome(DOCUMENTED_ADDRESS, 'olv_…');
  const shown = lines.slice(0, lines.indexOf('')).map((line) => `    ${line}\n`);
  expect(shown).toHaveLength(5);
  expect(documentText('README.md')).toContain(shown.join(''));
});
