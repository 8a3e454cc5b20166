import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { type OpenApi, responseExamples } from './openapi.ts';

/** The path of the page in the checkout. */
export const ERRORS_PAGE = 'docs/generated/errors.md';

/** What a client should do about each status. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['400', 'Correct the request as `detail` says. The same request will fail again.'],
  ['401', 'Check the key in `X-API-Key`. Ask the operator for a new one if it was revoked.'],
  ['403', 'Do what `detail` says.'],
  [
    '404',
    'Decide by `reason` ([what to do](../integrators.md#decide-by-the-result)). `did_you_mean` is for a person to look at.',
  ],
  ['409', 'Nothing to do: what the request asks for is there already.'],
  ['410', 'Start again from the present: `since=latest`, then verify all your licenses.'],
  ['413', 'Send less: a list can be split.'],
  ['415', 'Send a media type that `detail` names.'],
  ['429', 'Wait the seconds of `Retry-After`, then send the request again.'],
  ['500', 'Send the request once more; then report its `X-Request-Id` to the operator.'],
  ['501', 'Ask the operator: the installation is not set up for this.'],
  ['503', 'Wait the seconds of `Retry-After`, then send the request again.'],
]);

const errorBody = z.object({ detail: z.string(), reason: z.string().optional() });

/** An error as shown on the page. */
interface ShownError {
  readonly status: string;
  readonly operation: string;
  /** `detail`, `reason` and the situation in which the error is sent. */
  readonly cells: readonly string[];
}

function errorsOf(document: OpenApi): ShownError[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, { description }]) => {
        const examples = status < '400' ? {} : responseExamples(document, method, path, status);
        return Object.values(examples).map((example) => {
          const { detail, reason } = errorBody.parse(example);
          const cells = [detail, reason === undefined ? '' : `\`${reason}\``, description];
          return { status, operation: `\`${method.toUpperCase()} ${path}\``, cells };
        });
      }),
    ),
  );
}

/** The meanings of error reasons in the schemas, without duplicates. */
function reasonsIn(value: unknown): Set<string> {
  if (value === null || typeof value !== 'object') return new Set();
  const { success, data } = z
    .object({ reason: z.object({ enum: z.array(z.string()), description: z.string() }) })
    .safeParse(value);
  const below = Object.values(value).map(reasonsIn);
  const isExplained =
    success && data.reason.enum.every((code) => data.reason.description.includes(`${code}: `));
  return new Set([...(isExplained ? [data.reason.description] : []), ...below.flatMap((each) => [...each])]);
}

/**
 * The errors of the REST API as Markdown, by status.
 *
 * @throws {Error} for a status without advice
 */
export function errorsPage(document: OpenApi): string {
  const errors = errorsOf(document);
  const keyed = Object.keys(document.paths).filter((path) => path.startsWith('/api/'));
  const all = keyed.reduce((count, path) => count + Object.keys(document.paths[path] ?? {}).length, 0);
  const sections = [...Map.groupBy(errors, ({ status }) => status)].toSorted().map(([status, ofStatus]) => {
    const advice = ADVICE.get(status);
    if (advice === undefined) throw new Error(`Nothing says what a client does about status ${status}.`);
    const rows = [...Map.groupBy(ofStatus, ({ cells }) => JSON.stringify(cells)).values()].map((same) => {
      const where = same.length === all ? 'every address' : same.map(({ operation }) => operation).join(', ');
      return [...(same[0]?.cells ?? []), where];
    });
    return `## ${status}\n\n${advice}\n\n${markdownTable(['detail (an example)', 'reason', 'when', 'where'], rows)}`;
  });
  return `# Errors of the REST API

\`RECORD=1 npm test -- test/integration/openapi.test.ts\` writes this page from the OpenAPI document of a running service. An error is \`{"detail": "…"}\`, with a \`reason\` where a program decides by it.

${sections.join('\n\n')}

## Refused before an endpoint is reached

- 404: the address does not exist.
- 405: the address does not take the method; \`Allow\` names those it takes.
- 408: the request came too slowly. Send it again on a new connection.
- 431: the headers are too large.

## Reasons

${[...reasonsIn(document)]
  .flatMap((meanings) => meanings.split(/ (?=\w+: )/))
  .map((meaning) => `- ${meaning}`)
  .join('\n')}
`;
}
