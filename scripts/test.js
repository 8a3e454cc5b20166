import { runWithNode24 } from './prepare.js';

await runWithNode24('run-tests.ts');
