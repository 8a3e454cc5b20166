import { expect, test } from '@jest/globals';
import pino from 'pino';
import { readConfig } from '../../src/config.ts';
import { httpApp } from '../../src/http/app.ts';
import { type BodyLimit, LOOKUP_LIMIT, MAX_RECEIVED_OF_ADDRESS } from '../../src/http/body.ts';
import { httpServer, MAX_CONNECTIONS_OF_ADDRESS } from '../../src/http/connections.ts';
import { errorResponse } from '../../src/http/errors.ts';
import { RESPONSE_LIMITS } from '../../src/http/limits.ts';
import { freshness } from '../../src/http/status.ts';
import { lookupFields, MAX_LISTED_MATCHES, MAX_MATCHES, readLookup } from '../../src/licenses/lookup.ts';
import * as lookups from '../../src/lookup/service.ts';
import {
  MAX_IN_FLIGHT as MAX_MCP_IN_FLIGHT,
  MAX_IN_FLIGHT_PER_ADDRESS as MAX_MCP_IN_FLIGHT_PER_ADDRESS,
} from '../../src/mcp/endpoint.ts';
import { MAX_ROSTER_ITEMS } from '../../src/mcp/parameters.ts';
import { NothingPublishedError } from '../../src/publications/live.ts';
import { DEFAULT_CHANGES, MAX_CHANGES, MAX_NUMBER_LENGTH } from '../../src/rest/changes.ts';
import { MAX_EXPORTS, MAX_EXPORTS_OF_ACCOUNT } from '../../src/rest/export.ts';
import { ROSTER_LIMIT } from '../../src/rest/roster.ts';
import * as subscriptions from '../../src/rest/subscriptions.ts';
import { REST_WORDS } from '../../src/rest/verify.ts';
import * as rosterLimits from '../../src/rosters/roster.ts';
import * as rosters from '../../src/rosters/service.ts';
import { badKeysPerMinute, SAVES_PER_MINUTE, WEBHOOK_TESTS_PER_MINUTE } from '../../src/server.ts';
import { SearchUnavailableError, TooBusyError } from '../../src/storage/errors.ts';
import { MAX_LISTED } from '../../src/subscriptions/message.ts';
import { readWebhookUrl, WITHIN_MS } from '../../src/subscriptions/outgoing.ts';
import { MAX_SUBSCRIPTIONS } from '../../src/subscriptions/service.ts';
import { documentedTables } from '../support/documented.ts';

const FILE = 'docs/integrators.md';

function number(count: number | undefined): string {
  return (count ?? Number.NaN).toLocaleString('en-US');
}

function seconds(milliseconds: number | undefined): string {
  return `${(milliseconds ?? Number.NaN) / 1000} s`;
}

function size({ bytes }: BodyLimit): string {
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MB` : `${bytes / 1024} KB`;
}

/** The length of the longest text that is accepted, up to 1,000. */
function longestText(isAccepted: (text: string) => boolean): number {
  return (
    Array.from({ length: 1000 }, (_, at) => at + 1).findLast((length) => isAccepted('x'.repeat(length))) ?? 0
  );
}

function limits(): [limit: string, number: string][] {
  const config = readConfig({ STATE_DIR: '/nowhere' });
  const log = pino({ level: 'silent' });
  const server = httpServer(httpApp({ log }), { log });
  return [
    ['REST requests a minute (`REST_REQUESTS_PER_MINUTE`)', number(config.REST_REQUESTS_PER_MINUTE)],
    ['MCP requests a minute (`MCP_REQUESTS_PER_MINUTE`)', number(config.MCP_REQUESTS_PER_MINUTE)],
    ['all other requests a minute (`WEB_REQUESTS_PER_MINUTE`)', number(config.WEB_REQUESTS_PER_MINUTE)],
    ['saved records a minute on the website', number(SAVES_PER_MINUTE)],
    ['saved records a day, of all visitors (`SAVED_RECORDS_PER_DAY`)', number(config.SAVED_RECORDS_PER_DAY)],
    ['saved records of all visitors altogether, in MB (`SAVED_RECORDS_MB`)', number(config.SAVED_RECORDS_MB)],
    [
      'saved records a day of an account, by REST (a tenth of `SAVED_RECORDS_PER_DAY`)',
      number(config.SAVED_RECORDS_PER_DAY / 10),
    ],
    ['exports a day of an account (`EXPORTS_PER_DAY`)', number(config.EXPORTS_PER_DAY)],
    ['exports in progress of an account in a process', number(MAX_EXPORTS_OF_ACCOUNT)],
    ['exports in progress in a process', number(MAX_EXPORTS)],
    ['REST requests a minute with a bad key', number(badKeysPerMinute(config))],
    [
      'items of a roster that count as one request (`ROSTER_ITEMS_PER_REQUEST`)',
      number(config.ROSTER_ITEMS_PER_REQUEST),
    ],
    ['body of a lookup, and of an MCP request', size(LOOKUP_LIMIT)],
    ['body of a roster', size(ROSTER_LIMIT)],
    ['items of a roster, REST', number(rosterLimits.MAX_ITEMS)],
    ['items of a roster, MCP', number(MAX_ROSTER_ITEMS)],
    ['rows of a roster, website', number(rosterLimits.MAX_ITEMS)],
    [
      'characters of a typed value',
      number(longestText((text) => lookupFields.safeParse({ license_number: text }).success)),
    ],
    [
      "characters of an item's `reference`",
      number(
        longestText((text) => isValidItem({ board: 'Nursing Board', last_name: 'Example', reference: text })),
      ),
    ],
    ['characters of `license_number` in `/history`', number(MAX_NUMBER_LENGTH)],
    ['matches of a search by name', number(MAX_MATCHES)],
    [
      'matches of one item of a roster, unless `max_matches` says otherwise',
      number(rosterLimits.DEFAULT_LISTED_MATCHES),
    ],
    ['highest `max_matches` of a roster', number(MAX_LISTED_MATCHES)],
    ['items of a roster that get `did_you_mean`', number(rosters.MAX_ITEMS_WITH_SUGGESTIONS)],
    ['changes in one response of the feed, unless `limit` says otherwise', number(DEFAULT_CHANGES)],
    ['highest `limit` of the feed', number(MAX_CHANGES)],
    ['days that changes are kept (`CHANGES_KEPT_DAYS`)', number(config.CHANGES_KEPT_DAYS)],
    ['licenses that an account watches', number(MAX_SUBSCRIPTIONS)],
    ['licenses in a batch of subscriptions', number(rosterLimits.MAX_ITEMS)],
    ['subscriptions in a response, unless `limit` says otherwise', number(subscriptions.DEFAULT_PAGE)],
    ['highest `limit` of subscriptions', number(subscriptions.MAX_PAGE)],
    ['highest `expires_within_days`', number(subscriptions.MAX_DAYS)],
    ["characters of a webhook's `url`", number(longestText(isWebhookUrl))],
    ['test messages of an account a minute', number(WEBHOOK_TESTS_PER_MINUTE)],
    ['changes that a message lists', number(MAX_LISTED)],
    ['time for a receiver to answer a message', seconds(WITHIN_MS)],
    ['lookups in progress in a process, with suggestions', number(lookups.MAX_IN_FLIGHT_WITH_SUGGESTIONS)],
    ['lookups in progress in a process', number(lookups.MAX_IN_FLIGHT)],
    ['rosters in progress in a process; others wait', number(rosters.MAX_ROSTERS_UNDER_WAY)],
    ['rosters that wait in a process', number(rosters.MAX_ROSTERS_WAITING)],
    [
      'rosters without a key (MCP, website) that wait in a process',
      number(rosters.MAX_ROSTERS_WAITING_WITHOUT_KEY),
    ],
    ['MCP requests in progress in a process', number(MAX_MCP_IN_FLIGHT)],
    ['MCP requests in progress in a process, from one address', number(MAX_MCP_IN_FLIGHT_PER_ADDRESS)],
    ['megabytes of rosters being received by a process, from one address', number(MAX_RECEIVED_OF_ADDRESS)],
    ['time for a lookup, without receiving its body', seconds(lookups.TIMEOUT_MS)],
    ['time for a roster', seconds(rosters.TIMEOUT_MS)],
    ['time for a client to send all headers', seconds(server.headersTimeout)],
    ['time for a client to send a whole request', seconds(server.requestTimeout)],
    ['time without traffic on a connection during a request', seconds(server.timeout)],
    ['time that an idle connection is kept open', seconds(server.keepAliveTimeout)],
    ['connections of a process', number(server.maxConnections)],
    ['connections of an address, without a proxy in front', number(MAX_CONNECTIONS_OF_ADDRESS)],
    [
      'responses of an address that it has not read yet',
      `${RESPONSE_LIMITS.maxBytesOfClient / 1024 / 1024} MB`,
    ],
    ['speed at which a client reads a response, after ten seconds', `${RESPONSE_LIMITS.minBytesPerMs} KB/s`],
  ];
}

/** Whether a webhook may have an address as long as this text. */
function isWebhookUrl(text: string): boolean {
  try {
    readWebhookUrl(`https://example.com/${text}`.slice(0, text.length), []);
    return true;
  } catch {
    return false;
  }
}

function isValidItem(item: object): boolean {
  const requestOf = (fields: unknown) => readLookup(fields, REST_WORDS);
  const reader = { fieldsOf: (fields: object) => fields, requestOf };
  return 'by' in rosterLimits.rosterItem(item, reader).request;
}

test('the limits are those of the code', () => {
  const [table] = documentedTables(FILE, 'limit');
  expect(table?.rows.map(([limit, value]) => [limit, value])).toEqual(limits());
});

test('retries after a 503 wait as the service says', () => {
  const errors = [new NothingPublishedError(), new SearchUnavailableError(), new TooBusyError()];
  const answers = errors.map(errorResponse);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  const waits = documentedTables(FILE, 'reason')[0]?.rows.map(([, wait]) => Number(wait));
  expect(waits).toEqual(answers.map(({ retryAfter }) => retryAfter));
});

test('freshness is by age', () => {
  const rows = documentedTables(FILE, '`freshness`')[0]?.rows ?? [];
  const documented = rows.map(([name = '', ages = '']) => [
    name.replaceAll('`', ''),
    ages.match(/\d+/g)?.map(Number),
  ]);
  const ages = Array.from({ length: 30 }, (_, age) => age);
  const byName = Map.groupBy(ages, freshness);
  expect(documented).toEqual([
    ['fresh', [byName.get('fresh')?.[0], byName.get('fresh')?.at(-1)]],
    ['late', [byName.get('late')?.[0], byName.get('late')?.at(-1)]],
    ['stale', [byName.get('stale')?.[0]]],
  ]);
});
