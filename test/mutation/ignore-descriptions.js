/**
 * A plugin for Stryker that does not mutate the texts of `.describe()` and `description`. They are documentation, which the tests of the
 * OpenAPI document and of the tool schemas check.
 */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'descriptions',
    value: {
      shouldIgnore(path) {
        const { node, parent } = path;
        const isDescribed = parent?.type === 'CallExpression' && parent.callee.property?.name === 'describe';
        const isProperty = parent?.type === 'ObjectProperty' && parent.key.name === 'description';
        return node.type === 'StringLiteral' && (isDescribed || isProperty)
          ? 'The description of a field'
          : undefined;
      },
    },
  },
];
