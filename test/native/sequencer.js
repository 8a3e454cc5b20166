import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const require = createRequire(import.meta.url);
const { default: Sequencer } = require('@jest/test-sequencer');

/** Starts the files in the order in which the command names them, which scripts/test-files.ts decides. */
export default class AsNamed extends Sequencer {
  sort(tests) {
    const order = new Map(process.argv.map((argument, at) => [resolve(argument), at]));
    const place = ({ path }) => order.get(path) ?? 0;
    return tests.toSorted((one, other) => place(one) - place(other));
  }
}
