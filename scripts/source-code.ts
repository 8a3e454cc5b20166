import { relative, resolve } from 'node:path';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { API, type Checker } from 'typescript/unstable/sync';

/**
 * Reads the TypeScript files of `src` and `workers` with the compiler.
 *
 * @throws {Error} when the folder is not a TypeScript project, or has no such files
 */
export function readSourceCode<Result>(
  folder: string,
  read: (files: readonly SourceFile[], checker: Checker) => Result,
): Result {
  const api = new API({ cwd: folder });
  try {
    const config = resolve(folder, 'tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config} is no TypeScript project.`);
    const { program, checker } = project;
    const files = program.getSourceFileNames().flatMap((name) => {
      const isOurs = /^(src|workers)\//.test(relative(folder, name));
      return isOurs ? (program.getSourceFile(name) ?? []) : [];
    });
    if (files.length === 0) throw new Error(`${folder} has no files in src or workers.`);
    return read(files, checker);
  } finally {
    api.close();
  }
}

/** A node and all its descendants. */
export function* nodesIn(node: Node): Generator<Node, void, undefined> {
  yield node;
  const children: Node[] = [];
  node.forEachChild((child) => {
    children.push(child);
  });
  for (const child of children) yield* nodesIn(child);
}

/** The position where a node begins; line and column count from 1. */
export function positionOf(file: SourceFile, node: Node): { readonly line: number; readonly column: number } {
  const lines = file.text.slice(0, node.getStart()).split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
