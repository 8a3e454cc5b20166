import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

/** What `<tag>text</tag>` in a request stands for; texts are Latin-1, one character for each byte. */
const TAGS: Readonly<Record<string, (text: Buffer, count: number) => Buffer>> = {
  gzip: (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  'raw-deflate': (text) => deflateRawSync(text),
  br: (text) => brotliCompressSync(text),
  zstd: (text) => zstdCompressSync(text),
  'utf-16': (text) => Buffer.from(`\ufeff${text.toString('utf8')}`, 'utf16le'),
  chunk: (text) => Buffer.concat([Buffer.from(`${text.length.toString(16)}\r\n`), text, Buffer.from('\r\n')]),
  repeat: (text, count) => Buffer.alloc(text.length * count, text),
};

const names = Object.keys(TAGS).join('|');
const INNERMOST_TAG = new RegExp(`<(${names})(?: (\\d+))?>((?:(?!</?(?:${names})\\b).)*)</\\1>`, 's');

/** Texts by the name that stands for them in angle brackets, such as `<key>`. */
export type Values = Readonly<Record<string, string>>;

/**
 * The bytes of a request: up to the first empty line each line ends with CR and LF, and what follows is the body.
 * `<length>` in the head is the length of the body.
 */
export function requestBytes(lines: readonly string[], values: Values): Buffer {
  const end = lines.indexOf('');
  const body = end < 0 ? Buffer.alloc(0) : bytesOf(lines.slice(end + 1).join('\n'), values);
  const head = (end < 0 ? lines : lines.slice(0, end + 1)).map((line) => `${line}\r\n`).join('');
  return Buffer.concat([bytesOf(head, { ...values, length: String(body.length) }), body]);
}

/** The bytes of the rest of a request, lines ending with CR and LF. */
export function restBytes(lines: readonly string[], values: Values): Buffer {
  return bytesOf(lines.join('\r\n'), values);
}

function bytesOf(text: string, values: Values): Buffer {
  if (/[^\t\r\n -~]/.test(text)) throw new Error(`Write bytes outside ASCII as \\xNN: ${text}`);
  const withValues = text.replace(/<([a-z ]+)>/g, (whole, name: string) => values[name] ?? whole);
  let expanded = withValues.replace(/\\x([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  for (;;) {
    const [whole, name = '', count, inner = ''] = INNERMOST_TAG.exec(expanded) ?? [];
    if (whole === undefined) return Buffer.from(expanded, 'latin1');
    const made = TAGS[name]?.(Buffer.from(inner, 'latin1'), Number(count ?? 1)).toString('latin1') ?? '';
    expanded = expanded.replace(whole, () => made);
  }
}
