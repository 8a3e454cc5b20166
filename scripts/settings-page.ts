import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SETTINGS } from '../src/config.ts';
import { markdownTable } from './markdown-table.ts';

const FILE = resolve(import.meta.dirname, '../.env.example');

/** A setting with a default, `NAME=default`, or without one, `# NAME=example`. */
const SETTING = /^(# )?([A-Z_]+)=(.*)$/;

/** The page as Markdown: the purpose of each setting, from `.env.example`, and its valid values, from the code. */
export function settingsPage(): string {
  const [, ...sections] = readFileSync(FILE, 'utf8').split(/^## /m);
  return `# Settings

\`npm run generated-pages\` writes this page from \`.env.example\` and \`src/config.ts\`. Settings are environment variables. A blank one counts as unset. A wrong value ends the process with a message that names the setting.

${sections.map(sectionText).join('\n\n')}
`;
}

/** A section: its title, an introduction for all its settings, and a table of them. */
function sectionText(section: string): string {
  const [title = '', ...lines] = section.trimEnd().split('\n');
  const rows: string[][] = [];
  const introduction: string[] = [];
  let words: string[] = [];
  for (const line of lines) {
    const [, isExample, name = '', value = ''] = SETTING.exec(line) ?? [];
    if (name !== '') {
      const shown = value === '' || isExample !== undefined ? '' : `\`${value}\``;
      const example = isExample !== undefined && value !== '' ? ` Example: \`${value}\`` : '';
      const may = SETTINGS.get(name)?.description ?? '';
      rows.push([`\`${name}\``, shown, may, `${words.join(' ')}${example}`]);
      words = [];
    } else if (line.startsWith('# ')) {
      words.push(line.slice('# '.length));
    } else {
      introduction.push(...words);
      words = [];
    }
  }
  const table = markdownTable(['setting', 'default', 'may be', 'what for'], rows);
  return [`## ${title}`, introduction.join(' '), table].filter((part) => part !== '').join('\n\n');
}
