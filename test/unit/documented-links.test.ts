import { existsSync, globSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { anchorsIn, DOCUMENTS, documentText } from '../support/documented.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The text without code, in which brackets are no links. */
const prose = (file: string) =>
  documentText(file)
    .replaceAll(/^ {4}.*$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');

/** What is wrong with a link of a file; `undefined` when it leads somewhere. */
function problemOf(file: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : join(dirname(file), path);
  if (!existsSync(resolve(ROOT, target))) return `${link}: no such file`;
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  return anchorsIn(target).includes(anchor) ? undefined : `${link}: no such heading`;
}

const OTHERS = globSync(['*.md', '{deploy,sample-data,test}/**/README.md'], { cwd: ROOT });

const ALL = [...new Set([...DOCUMENTS, ...OTHERS])];

test.each(ALL)('the links of %s lead to files and headings of this checkout', (file) => {
  const links = [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const relative = links.filter((link) => !/^[a-z]+:/.test(link));
  expect(relative.flatMap((link) => problemOf(file, link) ?? [])).toEqual([]);
});

const CODE = globSync('{src,workers,scripts,test,bench,sample-data,examples}/**/*.ts', { cwd: ROOT });

test('the documents name only TypeScript files that exist', () => {
  const names = ALL.flatMap((file) => [...documentText(file).matchAll(/`([\w./-]+\.ts)`/g)]);
  const missing = names.filter(([, name = '']) => !CODE.some((path) => `/${path}`.endsWith(`/${name}`)));
  expect(missing.map(([, name]) => name)).toEqual([]);
});
