import { type Call, QUESTIONS } from '../sample-data/evaluation/questions.ts';

/** The questions to assistants with their scripted tool calls, as Markdown. */
export function questionsPage(): string {
  const questions = QUESTIONS.map(({ ask, calls }) => `1. ${ask}\n${calls.map(callLine).join('\n')}`);
  return `# Questions to assistants

\`npm run generated-pages\` writes this page from \`sample-data/evaluation/questions.yaml\`. Below each of the ${QUESTIONS.length} questions are the tool calls of a careful assistant. A test replays the calls and checks the facts in their results; no model takes part. \`npm run bench evaluation\` prints how many tokens each answer takes.

\`npm run bench evaluation -- --model COMMAND\` asks a model. For each turn, the command reads \`{"instructions", "tools", "question", "calls": [{"tool", "arguments", "result"}]}\` from standard input, and prints \`{"tool", "arguments"}\` or \`{"answer"}\`. An answer is wrong if no call had the facts, if it does not give the date of the data or name a board as the authority, or if it calls somebody unlicensed who was not found.

${questions.join('\n')}
`;
}

function callLine({ tool, arguments: given, isError, facts }: Call): string {
  const { outcome = 'answered', count } = facts;
  const ending = isError
    ? 'refused'
    : `${outcome}${typeof count === 'number' && count > 1 ? ` ${count}` : ''}`;
  return `   - \`${tool}\` \`${JSON.stringify(given)}\`: ${ending}`;
}
