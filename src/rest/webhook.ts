import createError from 'http-errors';
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { type RateLimit, TooManyRequestsError } from '../access/rate-limit.ts';
import { type BodyLimit, bodyTooLarge, jsonBody } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import type { Context, Route } from '../http/route.ts';
import { BadRequestError, checked } from '../licenses/bad-request.ts';
import { changesMessage, changesPublished, testMessage, webhookTest } from '../subscriptions/message.ts';
import { FAILURES } from '../subscriptions/outgoing.ts';
import { WEBHOOK_STATES, type Webhook, webhookState } from '../subscriptions/webhook.ts';
import type { Tested, Webhooks } from '../subscriptions/webhook-service.ts';
import { accountOf, COMMON_ERRORS, errorEntry, REST_PATH, responseEntry } from './operation.ts';
import { EXAMPLE, EXAMPLE_CURSOR, EXAMPLE_DATE } from './verify-response.ts';

const PATH = `${REST_PATH}/webhook`;

const BODY_LIMIT: BodyLimit = { bytes: 4096, words: 'a webhook takes at most 4 KB' };

/** How many tests run at the same time, of one account one. */
const MAX_TESTS = 20;
/** A test may take 15 seconds. */
const TEST_RESPONSE_MS = 20_000;

const URL_NEEDED = 'url is needed: an https address to which messages are posted.';

const webhookRequest = z
  .object(
    {
      url: z
        .string(URL_NEEDED)
        .describe('https, at most 500 characters; no user name, fragment or port. A public host'),
    },
    URL_NEEDED,
  )
  .meta({ id: 'WebhookRequest' });

const time = z.string().nullable();

const webhookBody = z
  .object({
    url: z.string(),
    state: z
      .enum(WEBHOOK_STATES)
      .describe(
        'failing: the last message was not delivered; it is sent again for some days. paused: that went on for five ' +
          'days, and nothing is sent. gone: the receiver answered 410, and nothing is sent. PUT the same url, or a ' +
          'test that is delivered, makes it active again.',
      ),
    created_at: z.string().describe('ISO 8601'),
    delivered_at: time.describe('When a message was delivered last, ISO 8601; null before the first'),
    delivered_cursor: z.string().describe('You were told what changed up to this place of the feed'),
    failing_since: time.describe('Since when messages are not delivered, ISO 8601; null where they are'),
    rotated_at: time.describe('When the secret was changed, ISO 8601; null if never'),
  })
  .meta({ id: 'Webhook' });

const webhookWithSecret = webhookBody
  .extend({
    secret: z.string().describe('What you verify signatures with. It is shown this once'),
  })
  .meta({ id: 'WebhookWithSecret' });

const testedBody = z
  .object({
    delivered: z.boolean().describe('Whether the receiver answered with a status of 200 to 299'),
    status: z.int().optional().describe('How it answered; absent where it did not'),
    reason: z.enum(FAILURES).optional().describe('Why there was no answer; absent where there was one'),
  })
  .meta({ id: 'WebhookTested' });

function bodyOf(webhook: Webhook): z.output<typeof webhookBody> {
  const { url, created_at, delivered_at, delivered_cursor, failing_since, rotated_at } = webhook;
  const state = webhookState(webhook);
  return { url, state, created_at, delivered_at, delivered_cursor, failing_since, rotated_at };
}

function noWebhook(): ClientError {
  return new ClientError(404, `This account has no webhook. PUT ${PATH} with a url makes one.`);
}

/** Not thrown, since it is no failure of the service that an operator must see in the log. */
const NOT_SET_UP = {
  detail:
    'This service sends no webhooks: its operator must set WEBHOOK_SECRET_KEY. The feed at /changes has all.',
};

const WEBHOOK_EXAMPLE: z.output<typeof webhookBody> = {
  url: 'https://hooks.example.com/licenses',
  state: 'active',
  created_at: `${EXAMPLE_DATE}T15:04:05.000Z`,
  delivered_at: null,
  delivered_cursor: EXAMPLE_CURSOR,
  failing_since: null,
  rotated_at: null,
};
const SECRET_EXAMPLE = { ...WEBHOOK_EXAMPLE, secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=' };

const NO_SECRET_KEY = responseEntry(
  'The operator has not set up webhooks',
  z.object({ detail: z.string() }),
  {
    example: NOT_SET_UP,
  },
);
const NONE = errorEntry('The account has no webhook', noWebhook());

function operation(
  operationId: string,
  summary: string,
  { responses, ...rest }: Pick<ZodOpenApiOperationObject, 'description' | 'requestBody' | 'responses'>,
): ZodOpenApiOperationObject {
  const errors = { ...COMMON_ERRORS, '501': NO_SECRET_KEY };
  return { operationId, tags: ['Webhook'], summary, ...rest, responses: { ...responses, ...errors } };
}

export interface WebhookAccess {
  /** `undefined` where the operator has not set WEBHOOK_SECRET_KEY. */
  readonly webhooks: Webhooks | undefined;
  /** Of an account's tests. */
  readonly testLimit: RateLimit;
}

/** The webhook of the account that holds the key. */
export function webhookRoutes({ webhooks, testLimit }: WebhookAccess): Route[] {
  const testing = new Set<string>();

  const whereSetUp =
    (answer: (ctx: Context, webhooks: Webhooks, account: string) => Promise<unknown>): Route['handle'] =>
    async (ctx) => {
      if (webhooks !== undefined) {
        ctx.body = await answer(ctx, webhooks, accountOf(ctx));
        return;
      }
      ctx.status = 501;
      ctx.body = NOT_SET_UP;
    };

  /** @throws {TooManyRequestsError} for more than one at a time, or more than a few a minute */
  async function tested(ctx: Context, { test }: Webhooks, account: string): Promise<Tested> {
    if (testing.has(account) || testing.size >= MAX_TESTS) throw new TooManyRequestsError(15);
    testing.add(account);
    try {
      await testLimit.spend(account);
      ctx.res.setTimeout(TEST_RESPONSE_MS);
      return found(await test(account));
    } finally {
      testing.delete(account);
    }
  }

  return [
    {
      method: 'PUT',
      path: PATH,
      operation: operation('putWebhook', 'Where you are told that something changed', {
        description:
          'An account has one webhook. After each publication that changes something you watch, one signed message ' +
          '(Standard Webhooks) is posted to it. The feed has all that changed; a message only says that it is time to ' +
          'read it. The same url again resumes a webhook that is paused or failing. Another url is another webhook with another secret; ' +
          'it goes on where the one before was.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: webhookRequest, example: { url: WEBHOOK_EXAMPLE.url } } },
        },
        responses: {
          '200': responseEntry('The webhook is there already', webhookBody, { example: WEBHOOK_EXAMPLE }),
          '201': responseEntry('A new webhook, with its secret', webhookWithSecret, {
            example: SECRET_EXAMPLE,
          }),
          '400': errorEntry('An address to which nothing is sent', new BadRequestError(URL_NEEDED)),
          '413': errorEntry('A body of more than 4 KB', bodyTooLarge(BODY_LIMIT)),
          '415': errorEntry('The body is not JSON', createError(415)),
        },
      }),
      handle: whereSetUp(async (ctx, { put }, account) => {
        const { url } = checked(webhookRequest, await jsonBody(ctx, BODY_LIMIT));
        const { webhook, secret } = await put(account, url);
        ctx.status = secret === undefined ? 200 : 201;
        return { ...bodyOf(webhook), secret };
      }),
    },
    {
      method: 'GET',
      path: PATH,
      operation: operation('webhook', 'Your webhook and its state', {
        responses: {
          '200': responseEntry('The webhook', webhookBody, { example: WEBHOOK_EXAMPLE }),
          '404': NONE,
        },
      }),
      handle: whereSetUp(async (_ctx, { read }, account) => bodyOf(found(await read(account)))),
    },
    {
      method: 'DELETE',
      path: PATH,
      operation: operation('deleteWebhook', 'Be told no more', {
        responses: { '204': { description: 'There is none any more' }, '404': NONE },
      }),
      handle: whereSetUp(async (_ctx, { remove }, account) => {
        if (!(await remove(account))) throw noWebhook();
        return null;
      }),
    },
    {
      method: 'POST',
      path: `${PATH}/test`,
      operation: operation('testWebhook', 'Send a test message now', {
        description:
          'Waits up to 15 seconds for the receiver. A test that is delivered resumes a webhook that is paused or failing.',
        responses: {
          '200': responseEntry('What came of it', testedBody, {
            examples: {
              delivered: { summary: 'Delivered', value: { delivered: true, status: 204 } },
              refused: { summary: 'Not answered', value: { delivered: false, reason: 'connection refused' } },
            },
          }),
          '404': NONE,
        },
      }),
      handle: whereSetUp(tested),
    },
    {
      method: 'POST',
      path: `${PATH}/rotate`,
      operation: operation('rotateWebhook', 'Change the secret', {
        description: 'For a day, messages are signed with the new secret and the one before.',
        responses: {
          '200': responseEntry('The webhook with its new secret', webhookWithSecret, {
            example: { ...SECRET_EXAMPLE, rotated_at: `${EXAMPLE_DATE}T16:00:00.000Z` },
          }),
          '404': NONE,
        },
      }),
      handle: whereSetUp(async (_ctx, { rotate }, account) => {
        const { webhook, secret } = found(await rotate(account));
        return { ...bodyOf(webhook), secret };
      }),
    },
  ];
}

/** @throws {ClientError} 404 */
function found<Found>(value: Found | undefined): Found {
  if (value === undefined) throw noWebhook();
  return value;
}

const messageHeaders = z.object({
  'webhook-id': z.string().describe('The same each time the message is sent: a receiver ignores what it has'),
  'webhook-timestamp': z.string().describe('When it was sent, in Unix seconds'),
  'webhook-signature': z
    .string()
    .describe('v1,BASE64 as Standard Webhooks has it; several with blanks between'),
});

function message(description: string, schema: z.ZodType, example: unknown): ZodOpenApiPathsObject[string] {
  return {
    post: {
      summary: description,
      tags: ['Webhook'],
      security: [],
      requestParams: { header: messageHeaders },
      requestBody: { required: true, content: { 'application/json': { schema, example } } },
      responses: { '2XX': { description: 'Delivered. Anything else, redirects too, is not' } },
    },
  };
}

/** The messages in the OpenAPI document. */
export const WEBHOOK_MESSAGES: ZodOpenApiPathsObject = {
  'changes.published': message(
    'Something that you watch changed',
    changesPublished.meta({ id: 'ChangesPublished' }),
    JSON.parse(
      changesMessage(
        {
          cursor: EXAMPLE_CURSOR,
          publication: 'p-20',
          date: EXAMPLE_DATE,
          counts: { added: 0, changed: 1, removed: 0 },
          changes: [
            {
              board: EXAMPLE.board,
              license_number: EXAMPLE.license_number,
              reference: 'staff-117',
              kind: 'changed',
            },
          ],
        },
        new Date(`${EXAMPLE_DATE}T09:12:45.000Z`),
      ),
    ),
  ),
  'webhook.test': message(
    'You asked for a test message',
    webhookTest.meta({ id: 'WebhookTest' }),
    JSON.parse(testMessage(new Date(`${EXAMPLE_DATE}T15:05:00.000Z`))),
  ),
};
