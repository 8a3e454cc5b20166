import { isNativeError } from 'node:util/types';
import { runInNewContext } from 'node:vm';

/** An expression that takes quadratic time needs ten seconds or more for a text of this length, a linear one milliseconds. */
const LENGTH = 200_000;
const LIMIT_MS = 1000;

/** Long enough to see which texts are the slowest. */
const SHORT_LENGTH = 2000;
const SUSPECTS = 3;

const COMMON = [' ', ',', '[', '0', 'a', 'A', '/', '.', '-', '"', '\n'];

/** The last one has a character of many classes, so that what has matched so far is tried again without its end. */
const ENDS = ['', '\u0001', '\u0001a0, \u0001'];

interface Text {
  readonly start: string;
  readonly repeated: string;
  readonly end: string;
}

/** The first of an expression's worst texts that takes it more than linear time, as code; `undefined` if none does. */
export function slowText(source: string, flags: string): string | undefined {
  const regex = new RegExp(source, `${flags.replace('g', '')}g`);
  const texts = worstTexts(source);
  const times = new Map<Text, number>();
  const timeOf = (text: Text) => times.get(text) ?? Number.POSITIVE_INFINITY;
  const areMeasured = endsInTime(() => {
    for (const text of texts) {
      const from = performance.now();
      apply(regex, text, SHORT_LENGTH);
      times.set(text, performance.now() - from);
    }
  });
  const slowestFirst = texts.toSorted((one, other) => timeOf(other) - timeOf(one) || 0);
  const suspects = areMeasured ? slowestFirst.slice(0, SUSPECTS) : slowestFirst;
  const slow = suspects.find((text) => !endsInTime(() => apply(regex, text, LENGTH)));
  return (
    slow &&
    `${JSON.stringify(slow.start)} + ${JSON.stringify(slow.repeated)}.repeat(…) + ${JSON.stringify(slow.end)}`
  );
}

/** Searches as `test` and `exec` do, and everywhere as `replace` and `split` do. */
function apply(regex: RegExp, { start, repeated, end }: Text, length: number): void {
  const text = start + repeated.repeat(length / repeated.length) + end;
  text.search(regex);
  text.replaceAll(regex, '');
}

function endsInTime(run: () => void): boolean {
  try {
    runInNewContext('run()', { run }, { timeout: LIMIT_MS });
    return true;
  } catch (error) {
    if (isNativeError(error) && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      return false;
    throw error;
  }
}

/** Texts that repeat what occurs in the expression, alone and in pairs, and end in a way that may not match. */
function worstTexts(source: string): Text[] {
  const own = partsOf(source);
  const parts = [...new Set([...own, ...COMMON])];
  const pairs = own.flatMap((one) => parts.flatMap((other) => [one + other, other + one]));
  const starts = ['', /^\^?([\w #:=-]+)/.exec(source)?.[1] ?? 'a'];
  return [...new Set([...parts, ...pairs])].flatMap((repeated) =>
    starts.flatMap((start) => ENDS.map((end) => ({ start, repeated, end }))),
  );
}

/** The words of an expression, the letter that each begins with, and its signs. */
function partsOf(source: string): string[] {
  const signs = [...source.matchAll(/\\([^\w\s])/g)].map(([, sign = '']) => sign);
  const plain = source.replaceAll(/\\p\{\w+\}|\\[ux][0-9a-f]+|\\.|\(\?<?[:=!]|[\^$|()?*+{}[\]]/gi, ' ');
  const words = plain.split(' ').filter((word) => word !== '');
  return [...new Set([...signs, ...words, ...words.map((word) => word.charAt(0))])];
}
