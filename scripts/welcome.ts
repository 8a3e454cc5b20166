/**
 * The lines that `npm start` ends with.
 *
 * @param key a new API key; `undefined` where there is one already, which is not shown again
 * @param commands to paste
 */
export function welcome(
  address: string,
  key: string | undefined,
  commands: readonly string[],
): readonly string[] {
  return [
    '',
    `Ohio license verification answers at ${address}`,
    `  Site  ${address}`,
    `  REST  ${address}/api/v1`,
    `  MCP   ${address}/mcp`,
    key === undefined
      ? '  Key   shown when it was made; for a new one: npx licenses keys create NAME --verified-by YOU'
      : `  Key   ${key} (shown this once)`,
    '',
    key === undefined ? 'To try (KEY=… first):' : 'To try:',
    ...commands.flatMap((command) => ['', command]),
    '',
    'Ctrl-C stops all of it.',
  ];
}
