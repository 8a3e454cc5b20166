import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** The address of `npm start`, used in every documented command. */
export const DOCUMENTED_ADDRESS = 'http://127.0.0.1:8080';

/** A documented command, and the response shown after it, if any. */
export type DocumentedCommand = { readonly command: string; readonly response?: string };

/** The Markdown files for users, by their paths in the checkout. */
const MARKDOWN = ['README.md', 'docs/**/*.md', 'examples/*/README.md'];
export const DOCUMENTS = globSync(MARKDOWN, { cwd: ROOT }).toSorted();

/** The text of a file in the checkout. */
export const documentText = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8');

/** The anchors of a Markdown file's headings, as GitHub generates them. */
export function anchorsIn(file: string): string[] {
  const headings = documentText(file).matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The code blocks in a Markdown file, without their indentation. */
export function codeBlocks(file: string): string[] {
  const blocks = documentText(file).matchAll(/(?<=\n\n)(?: {4}.*\n)+/g);
  return [...blocks].map(([block]) => block.replaceAll(/^ {4}/gm, ''));
}

/**
 * The curl commands to this service in a Markdown file. A code block that begins with a brace is a response.
 *
 * @throws {Error} if a response is not preceded by a command
 */
export function documentedCommands(file: string): DocumentedCommand[] {
  const commands: DocumentedCommand[] = [];
  for (const block of codeBlocks(file)) {
    if (block.startsWith('curl ') && block.includes(DOCUMENTED_ADDRESS)) {
      commands.push({ command: block });
    } else if (block.startsWith('{')) {
      const asked = commands.pop();
      if (asked === undefined || asked.response !== undefined)
        throw new Error(`${file} shows a response that follows no command:\n${block}`);
      commands.push({ ...asked, response: block });
    }
  }
  return commands;
}

/** A table in a Markdown file, as cells. */
export interface DocumentedTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tables of a Markdown file whose first column has this header, in order. */
export function documentedTables(file: string, firstHeader: string): DocumentedTable[] {
  const blocks = documentText(file).match(/^\|.*\n\| *:?-.*\n(?:\|.*\n)*/gm) ?? [];
  const tables = blocks.map((block): DocumentedTable => {
    const [header = [], , ...rows] = block.trimEnd().split('\n').map(cellsOf);
    return { header, rows };
  });
  return tables.filter(({ header }) => header[0] === firstHeader);
}

const cellsOf = (line: string): string[] =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());
