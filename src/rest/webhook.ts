import { z } from 'zod';
import type { ZodOpenApiCallbacksObject } from 'zod-openapi';
import { ClientError } from '../http/errors.ts';
import { accountOf, named, REST_PATH, type Route, resource } from '../http/guard.ts';
import { slots } from '../http/limits.ts';
import { requestBody } from '../http/openapi.ts';
import { changesPublished, webhookTest } from '../subscriptions/message.ts';
import { WEBHOOK_STATES, type Webhook, webhookState } from '../subscriptions/webhook.ts';
import { tested } from '../subscriptions/webhook-service.ts';
import type { RestServices } from './services.ts';

const PATH = `${REST_PATH}/webhook`;

/** The most simultaneous tests. Each account may run one at a time. */
const MAX_TESTS = 20;
/** Longer than a test, which may take 15 seconds. */
const TEST_RESPONSE_MS = 20_000;

const URL_NEEDED = 'url is needed: an https address to which messages are posted.';

const url = z
  .string(URL_NEEDED)
  .describe('https, at most 500 characters; no user name, fragment or port. A public host');
const webhookRequest = z.object({ url }, URL_NEEDED).meta({ id: 'WebhookRequest' });

const time = z.string().nullable();

const STATE_WORDS =
  'failing: the last message was not delivered; it is sent again for some days. paused: that went on for five ' +
  'days, and nothing is sent. gone: the receiver answered 410, and nothing is sent. PUT the same url, or a ' +
  'test that is delivered, makes it active again.';

const webhookBody = named('Webhook', {
  url: z.string(),
  state: z.enum(WEBHOOK_STATES).describe(STATE_WORDS),
  created_at: z.string().describe('ISO 8601'),
  delivered_at: time.describe('When a message was delivered last, ISO 8601; null before the first'),
  delivered_cursor: z.string().describe('You were told what changed up to this place of the feed'),
  failing_since: time.describe('Since when messages are not delivered, ISO 8601; null where they are'),
  rotated_at: time.describe('When the secret was changed, ISO 8601; null if never'),
});

const webhookWithSecret = named('WebhookWithSecret', {
  ...webhookBody.shape,
  secret: z.string().describe('The secret to verify signatures with. It is shown only once'),
});

function bodyOf(webhook: Webhook): z.output<typeof webhookBody> {
  return webhookBody.parse({ ...webhook, state: webhookState(webhook) });
}

/** @throws {ClientError} 404 if the account has no webhook */
function found<Found>(value: Found | undefined): Found {
  if (value !== undefined) return value;
  throw new ClientError(404, `This account has no webhook. PUT ${PATH} with a url makes one.`);
}

const NONE = { 404: { when: 'The account has no webhook' } };

const MESSAGE_WORDS =
  'Headers as Standard Webhooks has them: webhook-id (the same each time the message is sent: a receiver ' +
  'ignores what it has), webhook-timestamp (Unix seconds) and webhook-signature (v1,BASE64; several with ' +
  'blanks between).';

function message(id: string, summary: string, schema: z.ZodType): ZodOpenApiCallbacksObject[string] {
  const post = {
    ...{ operationId: id, tags: ['Webhooks'], summary, description: MESSAGE_WORDS, security: [] },
    requestBody: requestBody(id, schema),
    responses: { '2XX': { description: 'Delivered. Anything else, redirects too, is not' } },
  };
  return { '{$request.body#/url}': { post } };
}

const published = changesPublished.meta({ id: 'ChangesMessage' });
const test = webhookTest.meta({ id: 'TestMessage' });

/** The messages that the service sends. */
const MESSAGES = {
  'changes.published': message('changesPublished', 'Something that you watch changed', published),
  'webhook.test': message('webhookTest', 'You asked for a test message', test),
};

const endpoint = resource('Webhooks', { 501: { when: 'The operator has not set up webhooks' } });

const NOT_SET_UP =
  'This service sends no webhooks: its operator must set WEBHOOK_SECRET_KEY. Use the feed at /changes.';

/** The webhook of the account that holds the key. */
export function webhookRoutes({ webhooks, webhookTests }: RestServices): Route[] {
  const testing = slots(MAX_TESTS, () => 1, 15);

  const routes = [
    endpoint('PUT', '/webhook', {
      id: 'putWebhook',
      summary: 'Set the address for your messages',
      description:
        'An account has one webhook. After each publication that changes something you watch, one signed message ' +
        '(Standard Webhooks) is posted to it. The feed has all that changed; a message only says that it is time to ' +
        'read it. The same url again resumes a webhook that is paused or failing. Another url makes a new webhook with ' +
        'a new secret; it continues where the old one was.',
      input: { body: webhookRequest },
      limit: { bytes: 4096, words: 'a webhook takes at most 4 KB' },
      responses: {
        200: { when: 'The webhook is there already', body: webhookBody },
        201: { when: 'A new webhook, with its secret', body: webhookWithSecret },
      },
      callbacks: MESSAGES,
      handle: async (ctx, { body: { url } }) => {
        const { webhook, secret } = found(await webhooks?.put(accountOf(ctx), url));
        ctx.status = secret === undefined ? 200 : 201;
        return { ...bodyOf(webhook), secret };
      },
    }),
    endpoint('GET', '/webhook', {
      id: 'webhook',
      summary: 'Your webhook and its state',
      responses: { 200: { when: 'The webhook', body: webhookBody }, ...NONE },
      handle: async (ctx) => bodyOf(found(await webhooks?.read(accountOf(ctx)))),
    }),
    endpoint('DELETE', '/webhook', {
      id: 'deleteWebhook',
      summary: 'Stop messages',
      responses: { 204: { when: 'It is deleted' }, ...NONE },
      handle: async (ctx) => {
        found((await webhooks?.remove(accountOf(ctx))) || undefined);
        return null;
      },
    }),
    endpoint('POST', '/webhook/test', {
      id: 'testWebhook',
      summary: 'Send a test message now',
      description:
        'Waits up to 15 seconds for the receiver. A test that is delivered resumes a webhook that is paused or failing.',
      responses: {
        200: { when: 'What came of it', body: tested.meta({ id: 'WebhookTestResult' }) },
        ...NONE,
      },
      handle: async (ctx) => {
        const account = accountOf(ctx);
        return testing.during(account, 1, async () => {
          await webhookTests.spend(account);
          ctx.res.setTimeout(TEST_RESPONSE_MS);
          return found(await webhooks?.test(account));
        });
      },
    }),
    endpoint('POST', '/webhook/rotate', {
      id: 'rotateWebhook',
      summary: 'Change the secret',
      description: 'For a day, messages are signed with the new secret and the one before.',
      responses: { 200: { when: 'The webhook with its new secret', body: webhookWithSecret }, ...NONE },
      handle: async (ctx) => {
        const { webhook, secret } = found(await webhooks?.rotate(accountOf(ctx)));
        return { ...bodyOf(webhook), secret };
      },
    }),
  ];
  if (webhooks !== undefined) return routes;
  const refuse = () => {
    throw new ClientError(501, NOT_SET_UP);
  };
  // Refuse every request, without validating its body.
  return routes.map((route) => ({ ...route, handle: refuse }));
}
