/** Stryker changes the code inside Jest's own runtime, with a transformer. */
const IS_MUTATION = process.env.SOURCE_FILE !== undefined;

const NATIVE = {
  transform: {},
  runtime: '<rootDir>/test/native/runtime.js',
  testEnvironment: '<rootDir>/test/native/environment.js',
  testSequencer: '<rootDir>/test/native/sequencer.js',
};

const TRANSFORMED = {
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
};

/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  ...(IS_MUTATION ? TRANSFORMED : NATIVE),
  // What tests have installed there has packages of the same names.
  modulePathIgnorePatterns: ['<rootDir>/\\.local/'],
  // Far above what any test takes, for machines that do much else.
  testTimeout: 300_000,
  // No test may need another one to have run before it; SEED=N repeats an order.
  randomize: true,
  showSeed: true,
};
