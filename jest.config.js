/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // `npm test` leaves out what `npm run test:faults` runs.
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.LEAVE_OUT ? [process.env.LEAVE_OUT] : [])],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2024',
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  // What tests have installed there has packages of the same names.
  modulePathIgnorePatterns: ['<rootDir>/\\.local/'],
  // Far above what any test takes, for machines that do much else.
  testTimeout: 240_000,
  // No test may need another one to have run before it; `--seed` repeats an order.
  randomize: true,
  showSeed: true,
  // `npm run test:faults` ends with a table of what was broken.
  ...(process.env.FAULTS === 'full' && {
    reporters: ['default', '<rootDir>/test/support/fault-table.ts'],
  }),
};
