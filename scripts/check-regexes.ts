import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import recheck from 'recheck';
import type { CallExpression, Node, SourceFile } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isNewExpression,
  isPropertyAccessExpression,
  isRegularExpressionLiteral,
} from 'typescript/unstable/ast/is';
import { type Checker, TypeFlags } from 'typescript/unstable/sync';
import { print } from './processes.ts';
import { nodesIn, positionOf, readSourceCode } from './source-code.ts';

/** String methods that convert a string argument to a regular expression. */
const BUILDING_METHODS: ReadonlySet<string> = new Set(['match', 'matchAll', 'search']);

/** The checker counts steps, too. Its time limits would report linear expressions as slow on a busy machine. */
const WITHOUT_TIME_LIMITS = {
  timeout: 600_000,
  attackTimeout: 600_000,
  incubationTimeout: 600_000,
  seedingTimeout: 600_000,
};

interface Regex {
  /** For example `src/csv.ts:164`. */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/**
 * Finds each regular expression in `src` and `workers` whose time may grow faster than linearly with the text. This
 * includes expressions such as `/\s+$/` that are slow because matching restarts at each position: a text of a megabyte
 * would block the process for minutes. An expression built at run time is checked after its module is loaded.
 *
 * Run by `npm run check`. The exit code is 1 when there are any such expressions.
 */
const [, , folder = '.'] = process.argv;
const root = resolve(folder);
const { literals, calls, fromText } = readSourceCode(root, expressionsIn);
const built = await regexesBuiltBy(calls);
const builtAt = new Set(built.map(({ place }) => place));
const problems = [
  ...fromText.map((place) => `${place} makes a regular expression of a text.`),
  ...calls.flatMap(({ place }) =>
    builtAt.has(place) ? [] : `${place} can't be checked: it is not built when its module is loaded.`,
  ),
  ...(await Promise.all([...literals, ...built].map(problemsOf))).flat(),
];
for (const problem of new Set(problems)) print(problem);
if (problems.length > 0) process.exitCode = 1;

function expressionsIn(files: readonly SourceFile[], checker: Checker) {
  const all = files.flatMap((file) => [...nodesIn(file)].map((node) => ({ file, node })));
  return {
    literals: all.flatMap(({ file, node }): Regex[] => {
      if (!isRegularExpressionLiteral(node)) return [];
      const end = node.text.lastIndexOf('/');
      const [source, flags] = [node.text.slice(1, end), node.text.slice(end + 1)];
      return [{ place: placeOf(file, node), source, flags }];
    }),
    calls: all.flatMap(({ file, node }) => {
      const isCall = isNewExpression(node) || isCallExpression(node);
      if (!isCall || node.expression.getText() !== 'RegExp') return [];
      const { line, column } = positionOf(file, node);
      const module = pathToFileURL(file.fileName).href;
      return [{ place: placeOf(file, node), module, position: `${module}:${line}:${column}` }];
    }),
    fromText: all.flatMap(({ file, node }) =>
      isCallExpression(node) && makesRegex(node, checker) ? [placeOf(file, node)] : [],
    ),
  };
}

/** Whether a call is `text.match(text)` or a similar call. */
function makesRegex({ expression, arguments: [argument] }: CallExpression, checker: Checker): boolean {
  if (!isPropertyAccessExpression(expression) || argument === undefined) return false;
  if (!BUILDING_METHODS.has(expression.name.text)) return false;
  const types = checker.getTypeAtLocation([expression.expression, argument]);
  return types.every((type) => type !== undefined && (type.flags & TypeFlags.StringLike) !== 0);
}

function placeOf(file: SourceFile, node: Node): string {
  return `${relative(root, file.fileName)}:${positionOf(file, node).line}`;
}

/** Loads the modules with these calls, and collects the expressions they build. */
async function regexesBuiltBy(places: typeof calls): Promise<Regex[]> {
  const noted: Regex[] = [];
  globalThis.RegExp = new Proxy(RegExp, {
    construct: (target, [source, flags]) => note(new target(source, flags)),
    apply: (target, _, [source, flags]) => note(target(source, flags)),
  });
  function note(regex: RegExp): RegExp {
    const [, , , caller = ''] = (new Error().stack ?? '').split('\n');
    const place = places.find(({ position }) => caller.includes(position))?.place;
    if (place !== undefined) noted.push({ place, source: regex.source, flags: regex.flags });
    return regex;
  }
  for (const module of new Set(places.map((place) => place.module))) await import(module);
  return noted;
}

async function problemsOf({ place, source, flags }: Regex): Promise<string[]> {
  const result = await recheck.check(source, flags, WITHOUT_TIME_LIMITS);
  if (result.status === 'safe') return [];
  const why =
    result.status === 'vulnerable'
      ? `its time is ${result.complexity.summary}, as for ${result.attack.pattern}`
      : `it can't be checked: ${result.error.kind}`;
  return [`${place} /${source}/${flags}: ${why}.`];
}
