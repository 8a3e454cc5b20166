/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
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
  testTimeout: 60_000,
  // `npm run test:faults` ends with a table of what was broken.
  ...(process.env.FAULTS === 'full' && {
    reporters: ['default', '<rootDir>/test/support/fault-table.ts'],
  }),
};
