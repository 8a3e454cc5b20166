/**
 * A plugin for Stryker: leaves the texts of `.describe()` as they are. They are documentation, and the tests of the
 * OpenAPI document and of the tools' schemas read them.
 */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'descriptions',
    value: {
      shouldIgnore(path) {
        const { node, parent } = path;
        const isDescription =
          node.type === 'StringLiteral' &&
          parent?.type === 'CallExpression' &&
          parent.callee.property?.name === 'describe';
        return isDescription ? 'The description of a field' : undefined;
      },
    },
  },
];
