/**
 * A plugin for Stryker that does not mutate the texts of `.describe()`. They are documentation, which the tests of the
 * OpenAPI document and of the tool schemas check.
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
