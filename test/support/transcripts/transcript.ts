/** One exchange in a transcript file. */
export interface Exchange {
  /** The title of the exchange. */
  readonly name: string;
  /** The client's steps: requests to send, or actions named in `*` lines. */
  readonly steps: readonly (Request | string)[];
  /** All lines of the exchange, including the recorded responses. */
  readonly recorded: string;
}

/** A request, or the rest of one: a body without a head. */
export interface Request {
  /** The first line, which ends with the kind of the common headers, and the other headers. */
  readonly head: readonly string[];
  readonly body: readonly string[];
}

/** A transcript file. */
export interface Transcript {
  /** The lines before the first exchange. */
  readonly introduction: string;
  readonly exchanges: readonly Exchange[];
}

/** The `*` lines that a recording writes. All other `*` lines are actions of the client. */
export const OUTCOMES = {
  closes: '* the service closes the connection',
  sendsMore: '* the service sends more than its response',
} as const;

/**
 * Reads a transcript file.
 *
 * @throws {Error} for an invalid line
 */
export function readTranscript(text: string): Transcript {
  const [introduction = '', ...sections] = text.split(/^(?=### )/m);
  return { introduction: introduction.trim(), exchanges: sections.map(readExchange) };
}

function readExchange(section: string): Exchange {
  const recorded = section.trim();
  const [title = '', ...lines] = recorded.split('\n');
  const steps: (Request | string)[] = [];
  for (const line of lines) {
    const [, mark = '', content = ''] = /^(>>?|<<?|\*|)(?: |$)(.*)$/.exec(line) ?? [undefined, '?'];
    if (mark.startsWith('>')) {
      const last = steps.at(-1);
      const { head, body } = typeof last === 'object' ? last : { head: [], body: [] };
      if (typeof last === 'object') steps.pop();
      steps.push(mark === '>' ? { head: [...head, content], body } : { head, body: [...body, content] });
    } else if (mark === '*' && !Object.values<string>(OUTCOMES).includes(line)) {
      steps.push(content);
    } else if (mark === '?') {
      throw new Error(`"${title}" has a line that begins with none of > >> < << *: ${line}`);
    }
  }
  return { name: title.slice('### '.length), steps, recorded };
}
