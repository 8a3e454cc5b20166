import { relative, resolve } from 'node:path';
import { type Expression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isBindingElement,
  isComputedPropertyName,
  isConditionalExpression,
  isElementAccessExpression,
} from 'typescript/unstable/ast/is';
import { type Type, TypeFlags } from 'typescript/unstable/sync';
import { nodesIn, positionOf, readSourceCode } from './source-code.ts';

const ANY_TEXT = TypeFlags.String | TypeFlags.TemplateLiteral | TypeFlags.Any | TypeFlags.Unknown;

/**
 * Finds each place in `src` and `workers` where an arbitrary text is used as the key of an object: `object[text]`, read
 * or written, `text in object`, and `{ [text]: value } = object`. The text may come from outside and be `constructor`
 * or `__proto__`, which every object has. A `Map`, a `Set`, a key whose type is a union of literals, and
 * `Object.hasOwn(object, text) ? object[text] : …` are safe.
 *
 * Run by `npm run check`. The exit code is 1 when there are any such places.
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
  return readSourceCode(folder, (files, checker) =>
    files.flatMap((file) => {
      const keys = [...nodesIn(file)].flatMap(keysOf);
      const types = checker.getTypeAtLocation(keys);
      return keys.filter((_, at) => isAnyText(types[at])).map((key) => placeOf(folder, file, key));
    }),
  );
}

/** The expressions that a node uses as object keys, except those checked by `Object.hasOwn`. */
function keysOf(node: Node): Expression[] {
  if (isElementAccessExpression(node)) {
    const { expression, argumentExpression: key } = node;
    return isCheckedOwn(node, `Object.hasOwn(${textOf(expression)}, ${textOf(key)})`) ? [] : [key];
  }
  if (isBinaryExpression(node)) return node.operatorToken.kind === SyntaxKind.InKeyword ? [node.left] : [];
  if (!isBindingElement(node) || node.propertyName === undefined) return [];
  return isComputedPropertyName(node.propertyName) ? [node.propertyName.expression] : [];
}

/** Whether a node is the result of a conditional expression with this condition. */
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

/** Whether a type includes arbitrary text. A type parameter may. */
function isAnyText(type: Type | undefined): boolean {
  if (type === undefined) return true;
  if (type.isUnionType()) return type.getTypes().some(isAnyText);
  return (type.flags & (ANY_TEXT | TypeFlags.TypeParameter)) !== 0;
}

function placeOf(folder: string, file: SourceFile, key: Expression): string {
  const { line } = positionOf(file, key);
  return `${relative(folder, file.fileName)}:${line} ${textOf(key.parent).replaceAll(/\s+/g, ' ')}`;
}
