import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refuseOtherMethods } from '../http/app.ts';
import { BOARDS } from '../licenses/boards.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookups.ts';
import { lookupOutcome } from '../outcome.ts';
import { verifyAnswer } from './verify-answer.ts';
import { boardNamed, verifyRequest } from './verify-request.ts';

/** Where the REST API is (specification 9.1). */
export const REST_PATH = '/api/v1';

const boardDetails = z.object({
  code: z.string().describe('The short code of the board'),
  license_types: z.array(z.string()).describe('Names of the license types that it issues'),
});

/** The answer of GET /lookup/boards (specification 4.1). */
export const boardsAnswer = z.object({
  boards: z.array(z.string()).describe('The names of the 24 boards'),
  board_details: z.record(z.string(), boardDetails).describe('By the name of the board'),
});

/** The answer of GET /lookup/boards/{board}/types. */
export const boardTypesAnswer = z.object({ board: z.string(), ...boardDetails.shape });

/** When POST /lookup/verify took the place of POST /lookup/cached (RFC 9745: `@` and a Unix time). */
const CACHED_DEPRECATED = '@1767225600';

/** The four endpoints of specification 4; every other method there gives 405. */
export function restRoutes(rest: FastifyInstance, lookups: Lookups): void {
  rest.get('/lookup/boards', async (): Promise<z.output<typeof boardsAnswer>> => {
    const { licenseTypes } = await lookups.livePublication();
    return {
      boards: BOARDS.map(({ name }) => name),
      board_details: Object.fromEntries(
        BOARDS.map(({ name, code }) => [name, { code, license_types: [...(licenseTypes.get(name) ?? [])] }]),
      ),
    };
  });

  rest.get<{ Params: { board: string } }>(
    '/lookup/boards/:board/types',
    async ({ params }): Promise<z.output<typeof boardTypesAnswer>> => {
      const { name, code } = boardNamed(params.board);
      const { licenseTypes } = await lookups.livePublication();
      return { board: name, code, license_types: [...(licenseTypes.get(name) ?? [])] };
    },
  );

  async function verify({ body, spentMs }: FastifyRequest, reply: FastifyReply): Promise<object> {
    const { outcome, date } = await lookups.lookUp(verifyRequest(body), spentMs);
    const answer = verifyAnswer(outcome, date, todayInOhio());
    reply.outcome = lookupOutcome(outcome);
    reply.code(answer.status);
    return answer.body;
  }
  rest.post('/lookup/verify', verify);
  rest.post('/lookup/cached', { onRequest: deprecated }, verify);

  for (const url of ['/lookup/boards', '/lookup/boards/:board/types']) {
    refuseOtherMethods(rest, url, ['HEAD', 'GET']);
  }
  for (const url of ['/lookup/verify', '/lookup/cached']) refuseOtherMethods(rest, url, ['POST']);
}

/** Says that the address is deprecated, and by what, before the answer is known. */
function deprecated(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.headers({
    deprecation: CACHED_DEPRECATED,
    link: `<${REST_PATH}/lookup/verify>; rel="successor-version"`,
  });
  done();
}
