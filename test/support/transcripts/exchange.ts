/** One exchange of a transcript file, as the file has it. */
export interface Exchange {
  /** What it shows. */
  readonly name: string;
  readonly steps: readonly Step[];
  /** All its lines, the recorded answers included. */
  readonly recorded: string;
}

/** What the client does, in order. */
export type Step =
  /** Bytes that it sends: a request, or the rest of one. */
  | { readonly kind: 'send'; readonly lines: readonly string[]; readonly isRest: boolean }
  /** Anything else, in the words of its `*` line. */
  | { readonly kind: 'act'; readonly action: string }
  | { readonly kind: 'note'; readonly line: string };

/** A transcript file. */
export interface Transcript {
  /** The lines before the first exchange. */
  readonly introduction: string;
  readonly exchanges: readonly Exchange[];
}

/** `*` lines that a recording writes; all others are actions of the client. */
export const OUTCOMES = {
  closes: '* the service closes the connection',
  sendsMore: '* the service sends more than its answer',
} as const;

/** After these, the next bytes are another request; after any other action, the rest of the same one. */
const BEFORE_A_REQUEST = [
  'in the same write',
  'after the answer',
  'on a new connection',
  'on the admin port',
];

/**
 * Reads a transcript file.
 *
 * @throws {Error} for a line that is not one of a transcript
 */
export function readTranscript(text: string): Transcript {
  const [introduction = '', ...sections] = text.split(/^(?=### )/m);
  return { introduction: introduction.trim(), exchanges: sections.map(readExchange) };
}

/** A transcript file's text; `readTranscript` reads the same again. */
export function transcriptText(introduction: string, exchanges: readonly string[]): string {
  return `${[introduction, ...exchanges].join('\n\n')}\n`;
}

function readExchange(section: string): Exchange {
  const recorded = section.trim();
  const [title = '', ...lines] = recorded.split('\n');
  const steps: Step[] = [];
  let isRest = false;
  for (const line of lines) {
    const [mark, content] = [line.slice(0, 1), line.slice(2)];
    const last = steps.at(-1);
    if (mark === '>' && last?.kind === 'send') {
      steps[steps.length - 1] = { ...last, lines: [...last.lines, content] };
    } else if (mark === '>') {
      steps.push({ kind: 'send', lines: [content], isRest });
      isRest = true;
    } else if (mark === '#') {
      steps.push({ kind: 'note', line });
    } else if (mark === '*' && !Object.values<string>(OUTCOMES).includes(line)) {
      steps.push({ kind: 'act', action: content });
      if (BEFORE_A_REQUEST.includes(content)) isRest = false;
    } else if (!['', '<', '*'].includes(mark)) {
      throw new Error(`"${title}" has a line that begins with none of > < * #: ${line}`);
    }
  }
  return { name: title.slice('### '.length), steps, recorded };
}
