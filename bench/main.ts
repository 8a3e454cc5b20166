const MEASUREMENTS = [
  'changes',
  'conversation',
  'evaluation',
  'lookups',
  'matching',
  'mcp',
  'publish',
  'rivals',
  'rosters',
  'versions',
  'website',
  'zero-gap',
];

const [name = ''] = process.argv.slice(2);
if (MEASUREMENTS.includes(name)) {
  await import(`./${name}.ts`);
} else {
  process.stderr.write(`npm run bench NAME, where NAME is one of: ${MEASUREMENTS.join(', ')}.\n`);
  process.exitCode = 1;
}
