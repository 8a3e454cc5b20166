import pino from 'pino';
import { readConfig } from '../src/config.ts';
import { httpApp } from '../src/http/app.ts';
import { type BodyLimit, LOOKUP_LIMIT, MAX_RECEIVED_OF_ADDRESS } from '../src/http/body.ts';
import { httpServer, MAX_CONNECTIONS_OF_ADDRESS } from '../src/http/connections.ts';
import { RESPONSE_LIMITS } from '../src/http/limits.ts';
import { MAX_CHARACTERS, MAX_LISTED_MATCHES, MAX_MATCHES } from '../src/licenses/lookup.ts';
import * as lookups from '../src/lookup/service.ts';
import * as mcp from '../src/mcp/endpoint.ts';
import { MAX_ROSTER_ITEMS } from '../src/mcp/parameters.ts';
import { DEFAULT_CHANGES, MAX_CHANGES, MAX_NUMBER_LENGTH } from '../src/rest/changes.ts';
import { MAX_EXPORT_MS, MAX_EXPORTS, MAX_EXPORTS_OF_ACCOUNT } from '../src/rest/export.ts';
import { ROSTER_LIMIT } from '../src/rest/lists.ts';
import * as subscriptions from '../src/rest/subscriptions.ts';
import { DEFAULT_LISTED_MATCHES, MAX_ITEMS, reference } from '../src/rosters/roster.ts';
import * as rosters from '../src/rosters/service.ts';
import {
  badKeysPerMinute,
  IDEMPOTENCY_KEYS_PER_DAY,
  SAVES_PER_MINUTE,
  WEBHOOK_TESTS_PER_MINUTE,
} from '../src/server.ts';
import { MAX_LISTED } from '../src/subscriptions/message.ts';
import { readWebhookUrl, WITHIN_MS } from '../src/subscriptions/outgoing.ts';
import { MAX_SUBSCRIPTIONS } from '../src/subscriptions/service.ts';
import { markdownTable } from './markdown-table.ts';

type Row = readonly [limit: string, number: string, beyond: string];

/**
 * The page as Markdown: the service's limits for requests and responses, taken from the constants and the settings'
 * defaults.
 */
export function limitsPage(): string {
  const sections = limits().map(
    ([title, rows]) => `## ${title}\n\n${markdownTable(['limit', 'number', 'beyond it'], rows)}`,
  );
  return `# Limits

\`npm run generated-pages\` writes this page from the code. A setting in capitals is the operator's; the number is its default. An operator can also give an address range its own limit, so read \`X-RateLimit-Limit\` instead of assuming one. A process is one of the service's; an operator may run several.

- A minute's limit is for a client address (for IPv6, its /64), not for a key, and begins with the first request. REST, MCP, the website and bad keys count separately.
- Every request counts, even one that gets an error, but not a 429 when no requests were left.
- Limits of a body hold before and after decompression.
- A roster or batch that needs more requests than are left gets 429 and counts as one. One that needs more than a whole minute's limit gets 413: split it.

${sections.join('\n\n')}
`;
}

function limits(): readonly [title: string, rows: readonly Row[]][] {
  const config = readConfig({ STATE_DIR: '/nowhere' });
  const log = pino({ level: 'silent' });
  const server = httpServer(httpApp(log), log);
  return [
    [
      'Requests a minute of an address',
      [
        ['REST (`REST_REQUESTS_PER_MINUTE`)', number(config.REST_REQUESTS_PER_MINUTE), '429'],
        ['MCP (`MCP_REQUESTS_PER_MINUTE`)', number(config.MCP_REQUESTS_PER_MINUTE), '429'],
        ['all others (`WEB_REQUESTS_PER_MINUTE`)', number(config.WEB_REQUESTS_PER_MINUTE), '429'],
        ['REST with a bad key', number(badKeysPerMinute(config)), '429 instead of 401'],
        [
          'items that count as one request (`ROSTER_ITEMS_PER_REQUEST`)',
          number(config.ROSTER_ITEMS_PER_REQUEST),
          'as many more count as another request',
        ],
      ],
    ],
    [
      'Lookups and rosters',
      [
        ['body of a lookup, and of an MCP request', size(LOOKUP_LIMIT), '413'],
        ['body of a roster', size(ROSTER_LIMIT), '413'],
        ['items of a roster, REST', number(MAX_ITEMS), '400'],
        ['items of a roster, MCP', number(MAX_ROSTER_ITEMS), 'an error that says so'],
        ['rows of a roster, website', number(MAX_ITEMS), 'an error that says so'],
        ['characters of a typed value', number(MAX_CHARACTERS), '400'],
        ["characters of an item's `reference`", number(longestText(isReference)), 'the item is `invalid`'],
        ['matches of a search by name', number(MAX_MATCHES), '`truncated` is true'],
        ['matches of an item, by default', number(DEFAULT_LISTED_MATCHES), '`truncated` is true'],
        ['highest `max_matches`', number(MAX_LISTED_MATCHES), '400'],
        [
          'items of a roster that get `did_you_mean`',
          number(rosters.MAX_ITEMS_WITH_SUGGESTIONS),
          '`suggestions_omitted` is true',
        ],
        ['time for a lookup, without receiving its body', seconds(lookups.TIMEOUT_MS), '503'],
        ['time for a roster', seconds(rosters.TIMEOUT_MS), '503'],
      ],
    ],
    [
      'Changes, subscriptions and webhook',
      [
        ['changes in a response, by default', number(DEFAULT_CHANGES), '`more` is true'],
        ['highest `limit` of the feed', number(MAX_CHANGES), '400'],
        ['days that changes are kept (`CHANGES_KEPT_DAYS`)', number(config.CHANGES_KEPT_DAYS), '410'],
        ['characters of `license_number` in `/history`', number(MAX_NUMBER_LENGTH), '400'],
        ['licenses that an account watches', number(MAX_SUBSCRIPTIONS), '403'],
        ['licenses in a batch of subscriptions', number(MAX_ITEMS), '400'],
        ['subscriptions in a response, by default', number(subscriptions.DEFAULT_PAGE), '`next` is not null'],
        ['highest `limit` of subscriptions', number(subscriptions.MAX_PAGE), '400'],
        ['highest `expires_within_days`', number(subscriptions.MAX_DAYS), '400'],
        ["characters of a webhook's `url`", number(longestText(isWebhookUrl)), '400'],
        ['test messages of an account a minute', number(WEBHOOK_TESTS_PER_MINUTE), '429'],
        ['changes that a message lists', number(MAX_LISTED), 'the feed has all'],
        ['time for a receiver to answer a message', seconds(WITHIN_MS), 'it is sent again'],
      ],
    ],
    [
      'Exports and saved records',
      [
        ['exports of an account a day (`EXPORTS_PER_DAY`)', number(config.EXPORTS_PER_DAY), '429'],
        ['exports in progress of an account in a process', number(MAX_EXPORTS_OF_ACCOUNT), '429'],
        ['exports in progress in a process', number(MAX_EXPORTS), '503'],
        [
          'saved records of an account a day, by REST (a tenth of `SAVED_RECORDS_PER_DAY`)',
          number(config.SAVED_RECORDS_PER_DAY / 10),
          '429',
        ],
        ['saved records of an address a minute, on the website', number(SAVES_PER_MINUTE), '429'],
        [
          'saved records of everybody a day (`SAVED_RECORDS_PER_DAY`)',
          number(config.SAVED_RECORDS_PER_DAY),
          '503',
        ],
        ['saved records altogether, in MB (`SAVED_RECORDS_MB`)', number(config.SAVED_RECORDS_MB), '503'],
        ['Idempotency-Keys of an account a day', number(IDEMPOTENCY_KEYS_PER_DAY), '429'],
      ],
    ],
    [
      'In progress',
      [
        [
          'lookups in a process, with suggestions',
          number(lookups.MAX_IN_FLIGHT_WITH_SUGGESTIONS),
          '`did_you_mean` may be empty',
        ],
        ['lookups in a process', number(lookups.MAX_IN_FLIGHT), '503'],
        ['rosters in a process', number(rosters.MAX_ROSTERS_UNDER_WAY), 'the roster waits'],
        ['rosters that wait in a process', number(rosters.MAX_ROSTERS_WAITING), '503'],
        [
          'rosters without a key (MCP, website) that wait in a process',
          number(rosters.MAX_ROSTERS_WAITING_WITHOUT_KEY),
          '503',
        ],
        ['MCP requests in a process', number(mcp.MAX_IN_FLIGHT), 'waits a second, then 503'],
        [
          'MCP requests in a process, from one address; more for a range with a higher limit',
          number(mcp.MAX_IN_FLIGHT_PER_ADDRESS),
          'waits a second, then 429',
        ],
        [
          'rosters being received by a process, from one address',
          `${number(MAX_RECEIVED_OF_ADDRESS)} MB`,
          '429',
        ],
      ],
    ],
    [
      'Connections',
      [
        ['time for a client to send all headers', seconds(server.headersTimeout), '408'],
        ['time for a client to send a whole request', seconds(server.requestTimeout), '408'],
        ['time without traffic during a request', seconds(server.timeout), 'the connection is closed'],
        ['time that an idle connection stays open', seconds(server.keepAliveTimeout), 'it is closed'],
        ['connections of a process', number(server.maxConnections), 'a new one is closed'],
        [
          'connections of an address, without a proxy in front',
          number(MAX_CONNECTIONS_OF_ADDRESS),
          'a new one is closed',
        ],
        [
          'responses of an address that it has not read yet',
          `${RESPONSE_LIMITS.maxBytesOfClient / 1024 / 1024} MB`,
          '429',
        ],
        [
          'speed at which a client reads a response, after ten seconds',
          `${RESPONSE_LIMITS.minBytesPerMs} KB/s`,
          'a slower connection is closed',
        ],
        ['time for an export', `${MAX_EXPORT_MS / 3_600_000} hour`, 'the connection is closed'],
      ],
    ],
  ];
}

function number(count: number | undefined): string {
  return (count ?? Number.NaN).toLocaleString('en-US');
}

function seconds(milliseconds: number | undefined): string {
  return `${(milliseconds ?? Number.NaN) / 1000} s`;
}

function size({ bytes }: BodyLimit): string {
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MB` : `${bytes / 1024} KB`;
}

/** The length of the longest accepted text, up to 1,000. */
function longestText(isAccepted: (text: string) => boolean): number {
  const lengths = Array.from({ length: 1000 }, (_, at) => at + 1);
  return lengths.findLast((length) => isAccepted('x'.repeat(length))) ?? 0;
}

function isReference(text: string): boolean {
  return reference.safeParse(text).success;
}

/** Whether a webhook may have this URL. */
function isWebhookUrl(text: string): boolean {
  try {
    readWebhookUrl(`https://example.com/${text}`.slice(0, text.length), []);
    return true;
  } catch {
    return false;
  }
}
