import { runWithNode24 } from './prepare.js';

await runWithNode24('install-test-programs.ts');
