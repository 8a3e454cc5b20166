/**
 * Which folder may import which. `npm run check` fails on an import that is not allowed here.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */

/** Each folder of `src/`, with the folders of `src/` that it may import. Lower layers come first. */
const LAYERS = {
  licenses: [],
  answers: ['licenses'],
  telemetry: ['licenses'],
  storage: ['telemetry'],
  dataset: ['licenses'],
  changes: ['licenses', 'storage'],
  signing: ['storage'],
  records: ['licenses', 'answers', 'changes', 'storage', 'signing'],
  publications: ['licenses', 'storage', 'dataset', 'changes', 'records', 'access'],
  lookup: ['licenses', 'answers', 'storage', 'changes', 'publications', 'telemetry'],
  rosters: ['licenses', 'answers', 'storage', 'publications', 'lookup', 'telemetry'],
  access: ['licenses', 'storage', 'telemetry'],
  subscriptions: ['licenses', 'answers', 'storage', 'changes', 'lookup', 'access', 'telemetry'],
  http: ['licenses', 'answers', 'storage', 'changes', 'publications', 'access', 'telemetry'],
  'service-status': ['licenses', 'answers', 'changes', 'publications', 'lookup', 'http', 'telemetry'],
  rest: [
    'licenses',
    'answers',
    'changes',
    'subscriptions',
    'signing',
    'records',
    'lookup',
    'rosters',
    'http',
    'access',
    'telemetry',
  ],
  mcp: ['licenses', 'answers', 'changes', 'lookup', 'rosters', 'http', 'access', 'telemetry'],
  web: [
    ...['licenses', 'answers', 'changes', 'signing', 'records', 'publications', 'lookup', 'rosters', 'http'],
    ...['service-status', 'access', 'telemetry'],
  ],
  cli: [
    ...[
      'licenses',
      'answers',
      'changes',
      'signing',
      'records',
      'storage',
      'dataset',
      'publications',
      'subscriptions',
      'rosters',
    ],
    'access',
  ],
};

/** The command line starts the API and the worker, and checks files as the worker does. */
const STARTS_PROCESSES = '^src/cli/(main|publish)[.]ts$';

const layerRules = Object.entries(LAYERS).map(([folder, allowed]) => ({
  name: `src-${folder}`,
  comment: `src/${folder} may import ${[folder, ...allowed].map((each) => `src/${each}`).join(', ')} src/config.ts, src/csv.ts and src/storage/errors.ts.`,
  severity: 'error',
  from: { path: `^src/${folder}/`, pathNot: STARTS_PROCESSES },
  to: {
    path: '^src/',
    pathNot: [
      `^src/(${[folder, ...allowed].join('|')})/`,
      '^src/(config|csv)[.]ts$',
      '^src/storage/errors[.]ts$',
    ],
  },
}));

export default {
  forbidden: [
    ...layerRules,
    {
      name: 'no-circular',
      comment: 'Files must not import each other in a circle.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'domain-is-pure',
      comment:
        'src/licenses does no input or output: it may import zod, its data and a text library, nothing else.',
      severity: 'error',
      from: { path: '^src/licenses/' },
      to: { pathNot: ['^src/licenses/', '^data/', '^node_modules/(zod|fastest-levenshtein|minisearch)/'] },
    },
    {
      name: 'src-and-workers',
      comment: 'src never imports workers, except for the commands that start or do what they do.',
      severity: 'error',
      from: { path: '^src/', pathNot: STARTS_PROCESSES },
      to: { path: '^workers/' },
    },
    {
      name: 'production-alone',
      comment:
        'Production code imports neither scripts nor tests nor benches. Only the CLI loads the sample generator.',
      severity: 'error',
      from: { path: '^(src|workers)/', pathNot: '^src/cli/sample-data[.]ts$' },
      to: { path: '^(scripts|test|bench|sample-data)/' },
    },
    {
      name: 'bench-without-test',
      comment: 'Benches never import tests.',
      severity: 'error',
      from: { path: '^bench/' },
      to: { path: '^test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    exclude: { path: '^(node_modules/(?!zod|fastest-levenshtein|minisearch)|[.]local)' },
  },
};
