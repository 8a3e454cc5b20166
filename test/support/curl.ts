import { programPath } from '../../scripts/program-path.ts';

/** Why this machine can't run curl; `undefined` where it can. */
export const NO_CURL =
  programPath('curl') === undefined
    ? 'curl is missing; install it (Debian: apt-get install curl)'
    : undefined;
