/** One exchange of a transcript file, as the file has it. */
export interface Exchange {
  /** What it shows. */
  readonly name: string;
  /** What the client does: it sends something, or what the `*` line says. */
  readonly steps: readonly (Request | string)[];
  /** All its lines, the recorded responses included. */
  readonly recorded: string;
}

/** A request, or the rest of one. */
export interface Request {
  readonly lines: readonly string[];
  readonly isRest: boolean;
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
  let isRest = false;
  for (const line of lines) {
    const [mark, content] = [line.slice(0, 1), line.slice(2)];
    const last = steps.at(-1);
    if (mark === '>' && typeof last === 'object') {
      steps[steps.length - 1] = { ...last, lines: [...last.lines, content] };
    } else if (mark === '>') {
      steps.push({ lines: [content], isRest });
      isRest = false;
    } else if (mark === '*' && !Object.values<string>(OUTCOMES).includes(line)) {
      steps.push(content);
      if (content === 'after 100 Continue') isRest = true;
    } else if (!['', '<', '*'].includes(mark)) {
      throw new Error(`"${title}" has a line that begins with none of > < *: ${line}`);
    }
  }
  return { name: title.slice('### '.length), steps, recorded };
}
