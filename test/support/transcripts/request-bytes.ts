import { gzipSync } from 'node:zlib';

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

/** The bytes of the rest of a request. */
export function bytesOf(text: string, values: Values): Buffer {
  if (/[^\t\n\r -~]/.test(text)) throw new Error(`Write bytes outside ASCII as \\xNN: ${text}`);
  const latin1 = text
    .replace(/<([a-z ]+)>/g, (whole, name: string) => values[name] ?? whole)
    .replace(/\\x([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(expanded(latin1), 'latin1');
}

const INNERMOST_TAG = /<(gzip|repeat)(?: (\d+))?>((?:(?!<\/?(?:gzip|repeat)\b).)*)<\/\1>/s;

/** With what `<gzip>text</gzip>` and `<repeat 9>text</repeat>` stand for, one character for each byte. */
function expanded(text: string): string {
  const [whole, tag, count, inner = ''] = INNERMOST_TAG.exec(text) ?? [];
  if (whole === undefined) return text;
  const made =
    tag === 'gzip' ? gzipSync(Buffer.from(inner, 'latin1')).toString('latin1') : inner.repeat(Number(count));
  return expanded(text.replace(whole, () => made));
}
