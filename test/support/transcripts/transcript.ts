/** One exchange of a transcript file, as the file has it. */
export interface Exchange {
  /** What it shows. */
  readonly name: string;
  /** What the client does: it sends something, or what the `*` line says. */
  readonly steps: readonly (Request | string)[];
  /** All its lines, the recorded responses included. */
  readonly recorded: string;
}

/** A request, or the rest of one: a body without a head. */
export interface Request {
  /** Its first line, at the end of which is the kind of its common headers, and its other headers. */
  readonly head: readonly string[];
  readonly body: readonly string[];
}

/** A transcript file. */
export interface Transcript {
  /** The lines before the first exchange. */
  readonly introduction: string;
  readonly exchanges: readonly Exchange[];
}

/** `*` lines that a recording writes; all others are actions of the client. */
export const OUTCOMES = {
  closes: '* the service closes the connection',
  sendsMore: '* the service sends more than its response',
} as const;

/**
 * Reads a transcript file.
 *
 * @throws {Error} for a line that is not one of a transcript
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
