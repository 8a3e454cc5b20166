/**
 * Names that every object of JavaScript has. A text from outside that selects something must never find one of them:
 * `{}['constructor']` is a function.
 */
export const PROPERTY_NAMES: readonly string[] = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...['prototype', 'length', 'name', 'call', 'then', 'toJSON'],
];
