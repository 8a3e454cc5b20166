import { relative, resolve } from 'node:path';
import { type Expression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isBindingElement,
  isComputedPropertyName,
  isConditionalExpression,
  isElementAccessExpression,
} from 'typescript/unstable/ast/is';
import { API, type Type, TypeFlags } from 'typescript/unstable/sync';

const ANY_TEXT = TypeFlags.String | TypeFlags.TemplateLiteral | TypeFlags.Any | TypeFlags.Unknown;

/**
 * Finds each place in `src` and `workers` where an arbitrary text names a property of an object: `object[text]`, read or
 * written, `text in object`, and `{ [text]: value } = object`. The text may come from outside and be `constructor` or
 * `__proto__`, which every object has. A `Map`, a `Set`, a key whose type is a union of literals, and
 * `Object.hasOwn(object, text) ? object[text] : …` are safe.
 *
 * Run by `npm run check`. Exit 1 when there are any.
 */
const root = resolve(process.argv[2] ?? '.');
const found = unsafeKeys(root);
for (const line of found) process.stdout.write(`${line}\n`);
if (found.length > 0) {
  process.stdout.write(
    'Any text may be the key here, also "constructor". Use a Map, a Set or Object.hasOwn.\n',
  );
  process.exitCode = 1;
}

function unsafeKeys(folder: string): string[] {
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
    return files.flatMap((file) => {
      const keys = [...keysIn(file)];
      const types = checker.getTypeAtLocation(keys);
      return keys.filter((_, at) => isAnyText(types[at])).map((key) => placeOf(folder, file, key));
    });
  } finally {
    api.close();
  }
}

/** The keys by which properties of objects are named, but those that `Object.hasOwn` has checked. */
function* keysIn(node: Node): Generator<Expression, void, undefined> {
  if (isElementAccessExpression(node)) {
    const { expression, argumentExpression: key } = node;
    if (!isCheckedOwn(node, `Object.hasOwn(${textOf(expression)}, ${textOf(key)})`)) yield key;
  } else if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword) {
    yield node.left;
  } else if (
    isBindingElement(node) &&
    node.propertyName !== undefined &&
    isComputedPropertyName(node.propertyName)
  ) {
    yield node.propertyName.expression;
  }
  const children: Node[] = [];
  node.forEachChild((child) => {
    children.push(child);
  });
  for (const child of children) yield* keysIn(child);
}

/** Whether a node is what a condition with this text chooses. */
function isCheckedOwn(node: Node, condition: string): boolean {
  const { parent } = node;
  return (
    parent !== undefined &&
    isConditionalExpression(parent) &&
    parent.whenTrue === node &&
    textOf(parent.condition) === condition
  );
}

function textOf(node: Node): string {
  return node.getText();
}

/** Whether a type has any text: a type parameter may. */
function isAnyText(type: Type | undefined): boolean {
  if (type === undefined) return true;
  if (type.isUnionType()) return type.getTypes().some(isAnyText);
  return (type.flags & (ANY_TEXT | TypeFlags.TypeParameter)) !== 0;
}

function placeOf(folder: string, file: SourceFile, key: Expression): string {
  const line = file.text.slice(0, key.getStart()).split('\n').length;
  return `${relative(folder, file.fileName)}:${line} ${textOf(key.parent).replaceAll(/\s+/g, ' ')}`;
}
