import { copyFile, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { installedFolder } from './installed-folder.ts';
import { runProgram } from './programs.ts';

const MCP_CLIENTS = resolve(import.meta.dirname, '../mcp-clients');
const PACKAGE_FILES = ['package.json', 'package-lock.json', '.npmrc'];

/** What differs from machine to machine is chosen by npm. */
const MACHINE = `${process.platform} ${process.arch}`;

/**
 * Installs the packages of test/mcp-clients into a folder under STATE_DIR, unless they are there. Their scripts
 * are not run.
 *
 * @returns the folder that has their `node_modules`
 * @throws {Error} with what npm printed
 */
export async function installedMcpClients(): Promise<string> {
  const lock = await readFile(join(MCP_CLIENTS, 'package-lock.json'), 'utf8');
  return installedFolder('npm', [lock, MACHINE], async (folder) => {
    for (const file of PACKAGE_FILES) await copyFile(join(MCP_CLIENTS, file), join(folder, file));
    const { code, stdout, stderr } = await runProgram(
      ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
      { cwd: folder, variables: process.env },
    );
    if (code !== 0) throw new Error(`npm could not install ${MCP_CLIENTS}:\n${stdout}${stderr}`);
  });
}
