const LINE_WIDTH = 100;

/**
 * A body's text, one character for each byte. Compact JSON is broken into lines, at most about 100 characters each,
 * so that a difference is seen; any other body, JSON with blanks of its own too, stays as it is.
 */
export function bodyText(body: Buffer): string {
  const text = body.toString('latin1');
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? layout(value, '') : text;
  } catch {
    return text;
  }
}

function layout(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= LINE_WIDTH) return line;
  const inner = `${indent}  `;
  const [open, parts, close] = Array.isArray(value)
    ? ['[', value.map((item) => layout(item, inner)), ']']
    : [
        '{',
        Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${layout(item, inner)}`),
        '}',
      ];
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
}
