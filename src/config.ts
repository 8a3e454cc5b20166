import { existsSync, readFileSync, statSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import packageJson from '../package.json' with { type: 'json' };
import { isSource } from './dataset/source-url.ts';
import { OHIO_TIME_ZONE } from './licenses/dates.ts';

/** This service's version. */
export const SERVICE_VERSION: string = packageJson.version;

const LOOPBACK = '127.0.0.1';

const port = z.coerce.number().int().min(0).max(65535);
const positive = z.coerce.number().int().min(1);
const count = z.coerce.number().int().min(0);
const percent = z.coerce.number().min(0).max(100);
const url = (protocols: string[]) =>
  z
    .url({ protocol: new RegExp(`^(${protocols.join('|')})$`) })
    .transform((value) => value.replace(/(?<!\/)\/+$/, ''));
const commaList = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

const listUnlessSet = (unlessSet: string) => z.string().default(unlessSet).pipe(commaList);
const text = (pattern: RegExp) => z.string().regex(pattern);

/** The metadata of a secret setting: its valid values in words. No message shows its value. */
const secret = (description: string) => ({ description, isSecret: true });

const source = z.string().trim().refine(isSource).optional().meta(secret('a path or an https URL'));

/** The public address of a website, such as `https://licenses.example.gov`. */
const publicUrl = url(['https?'])
  .transform((value) => new URL(value))
  .refine(({ href, origin }) => href === `${origin}/`)
  .transform(({ origin }) => origin);

/** One URL, or several separated by commas, kept as a single string. */
const urls = (protocols: string[]) =>
  commaList.pipe(z.array(url(protocols)).min(1)).transform((list) => list.join(','));

/** Address ranges in which every address has the same limit, e.g. `203.0.113.0/24=6000`. */
export interface RateLimitRange {
  readonly addresses: BlockList;
  readonly requestsPerMinute: number;
}

/** Adjacent ranges with the same limit share one BlockList, because an assistant may have hundreds of ranges. */
const listOfRanges = z.array(z.string()).transform((parts, context): RateLimitRange[] => {
  const ranges: RateLimitRange[] = [];
  for (const part of parts) {
    const [, address = '', bits = '', limit = ''] = /^([^/=]+)\/(\d+)=(\d+)$/.exec(part) ?? [];
    const family = isIP(address);
    const longest = family === 6 ? 128 : 32;
    if (family === 0 || Number(bits) > longest || Number(limit) < 1) {
      context.addIssue({ code: 'custom', message: `"${part}" is not ADDRESS/BITS=REQUESTS_PER_MINUTE` });
      break;
    }
    const requestsPerMinute = Number(limit);
    const last = ranges.at(-1);
    const isOfLast = last?.requestsPerMinute === requestsPerMinute;
    const { addresses } = isOfLast ? last : { addresses: new BlockList() };
    if (!isOfLast) ranges.push({ addresses, requestsPerMinute });
    addresses.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  }
  return ranges;
});

/** CIDR ranges, separated by commas. */
const addressRanges = listUnlessSet('').pipe(z.array(z.union([z.cidrv4(), z.cidrv6()])));

const rateLimitRanges = (unlessSet: string) =>
  listUnlessSet(unlessSet).pipe(listOfRanges).describe('a comma list of ADDRESS/BITS=REQUESTS_PER_MINUTE');

/**
 * The addresses from which Claude calls MCP servers for all its users: "outbound" at
 * https://platform.claude.com/docs/en/api/ip-addresses. OpenAI's list changes too often for a default
 * (docs/mcp.md).
 */
const HOSTED_ASSISTANTS = '160.79.104.0/21=6000';

const hostNames = listUnlessSet('').describe('a comma list of host names');

const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']);

/** The schema of every setting, with its valid values in words. `.env.example` explains the purpose of each setting. */
const schema = z.object({
  HOST: z.string().min(1).default(LOOPBACK).describe('an address to listen on'),
  PORT: port.default(8080).describe('a port, 0 to 65535'),
  ADMIN_HOST: z.string().min(1).default(LOOPBACK).describe('an address to listen on'),
  ADMIN_ALLOWED_HOSTS: hostNames,
  ADMIN_PORT: port.default(9464).describe('a port, 0 to 65535'),
  WORKER_ADMIN_PORT: port.default(9465).describe('a port, 0 to 65535'),
  QUEUE_BOARD_PASSWORD: z.string().min(16).max(200).optional().meta(secret('16 to 200 characters')),
  OPENSEARCH_URL: urls(['https?'])
    .optional()
    .meta(secret('an http or https URL, or those of several nodes with commas between them')),
  OPENSEARCH_USERNAME: z.string().optional().describe('a user name'),
  OPENSEARCH_PASSWORD: z.string().optional().meta(secret('a password')),
  OPENSEARCH_CA: z.string().refine(existsSync).optional().describe('the path of a PEM file'),
  INDEX_PREFIX: text(/^([a-z0-9][a-z0-9_-]{0,39})?$/)
    .default('')
    .describe('empty, or up to 40 lower-case letters, digits, - and _, a letter or digit first'),
  INDEX_SHARDS: positive.max(64).default(1).describe('a whole number, 1 to 64'),
  REDIS_URL: url(['rediss?']).optional().meta(secret('a redis or rediss URL')),
  DATASET_INDIVIDUAL: source,
  DATASET_BUSINESS: source,
  PUBLISH_SCHEDULE: text(/^(\S+\s+){4,5}\S+$/)
    .optional()
    .describe(`a cron pattern of five fields, in the time of ${OHIO_TIME_ZONE}`),
  REST_REQUESTS_PER_MINUTE: positive.default(600).describe('a whole number from 1'),
  MCP_REQUESTS_PER_MINUTE: positive.default(120).describe('a whole number from 1'),
  WEB_REQUESTS_PER_MINUTE: positive.default(600).describe('a whole number from 1'),
  SAVED_RECORDS_PER_DAY: positive.default(2000).describe('a whole number from 1'),
  SAVED_RECORDS_MB: positive.default(5000).describe('a whole number from 1'),
  ROSTER_ITEMS_PER_REQUEST: positive.max(1000).default(10).describe('a whole number, 1 to 1000'),
  RATE_LIMIT_RANGES: rateLimitRanges(''),
  MCP_RATE_LIMIT_RANGES: rateLimitRanges(HOSTED_ASSISTANTS),
  TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0).describe('how many proxies, 0 to 10'),
  PUBLIC_URL: publicUrl.optional().describe('an http or https URL without a path'),
  MCP_ALLOWED_HOSTS: hostNames,
  MCP_ALLOWED_ORIGINS: listUnlessSet('').describe('a comma list of origins'),
  API_KEY_PREFIX: text(/^[a-z][a-z0-9]{0,15}$/)
    .default('olv')
    .describe('up to 16 lower-case letters and digits, a letter first'),
  DRAIN_SECONDS: z.coerce.number().min(0).max(300).default(5).describe('seconds, 0 to 300'),
  KEEP_PUBLICATIONS: positive.max(100).default(3).describe('a whole number, 1 to 100'),
  GUARD_MIN_ROWS_PERCENT: percent.default(97).describe('a percentage, 0 to 100'),
  GUARD_BOARD_ROWS_FEWER: count.default(50).describe('a whole number from 0'),
  GUARD_MAX_REJECTED_PERCENT: percent.default(0.5).describe('a percentage, 0 to 100'),
  GUARD_MAX_DUPLICATES: count.default(0).describe('a whole number from 0'),
  GUARD_MAX_UNKNOWN_PERCENT: percent.default(1).describe('a percentage, 0 to 100'),
  GUARD_MAX_DAYS_OLDER: count.default(0).describe('a whole number from 0'),
  GUARD_MAX_CHANGED_PERCENT: percent.default(20).describe('a percentage, 0 to 100'),
  GUARD_MAX_DISCIPLINE_DROP_PERCENT: percent.default(20).describe('a percentage, 0 to 100'),
  GUARD_MAX_NOW_ACTIVE_PERCENT: percent.default(10).describe('a percentage, 0 to 100'),
  GUARD_MAX_COLUMN_CHANGED_PERCENT: percent.default(50).describe('a percentage, 0 to 100'),
  GUARD_MAX_COLUMN_BLANK_POINTS: percent.default(20).describe('percentage points, 0 to 100'),
  GUARD_MAX_BOARD_CHANGED_PERCENT: percent.default(50).describe('a percentage, 0 to 100'),
  GUARD_MAX_RELEASE_CHANGES_PERCENT: percent.default(1).describe('a percentage, 0 to 100'),
  GUARD_SMALL_BOARD: count.default(20).describe('a whole number from 0'),
  EXPORTS_PER_DAY: positive.default(4).describe('a whole number from 1'),
  WEBHOOK_SECRET_KEY: z.string().min(32).max(200).optional().meta(secret('32 to 200 characters')),
  WEBHOOK_ALLOWED_RANGES: addressRanges.describe('a comma list of ADDRESS/BITS'),
  SIGNING_SECRET_KEY: z.string().min(32).max(200).optional().meta(secret('32 to 200 characters')),
  CHANGES_KEPT_DAYS: count.default(730).describe('a whole number from 0'),
  OPERATOR_NAME: z.string().trim().max(200).optional().describe('a name of up to 200 characters'),
  OPERATOR_CONTACT: z
    .union([z.email(), url(['https'])])
    .optional()
    .describe('an e-mail address or an https URL'),
  LOG_LEVEL: logLevel.default('info').describe(`one of ${logLevel.options.join(', ')}`),
  STATE_DIR: z.string().min(1).default('.local').describe('a folder'),
});

export const SETTINGS: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(schema.shape));

export const SETTING_NAMES: readonly string[] = [...SETTINGS.keys()];

/** Every setting by its environment name, validated. `OPENSEARCH_URL` and `REDIS_URL` are always present. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/** A setting is invalid. The message is one line with the variable, its value and the valid values. */
export class ConfigError extends Error {}

/**
 * Reads and checks every setting. Blank variables count as unset.
 *
 * Without `OPENSEARCH_URL` or `REDIS_URL` the addresses come from `STATE_DIR/services.json`, which
 * `npm start` writes while its servers run, so that commands in another terminal find them.
 *
 * @throws {ConfigError} for the first bad value, in one line
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const given = new Map(Object.entries(environment).filter(([, value]) => value?.trim() !== ''));
  const result = schema.safeParse(Object.fromEntries(given));
  if (!result.success) {
    const name = String(result.error.issues[0]?.path[0]);
    const { description, isSecret } = SETTINGS.get(name)?.meta() ?? {};
    const shown = isSecret ? 'something else (not shown)' : JSON.stringify(given.get(name) ?? '');
    throw new ConfigError(`${name} is ${shown}, but must be ${description}.`);
  }
  const config = result.data;
  const { PUBLIC_URL, MCP_ALLOWED_HOSTS: hosts } = config;
  if (config.PUBLISH_SCHEDULE !== undefined && !(config.DATASET_INDIVIDUAL && config.DATASET_BUSINESS)) {
    throw new ConfigError(
      `PUBLISH_SCHEDULE is ${JSON.stringify(config.PUBLISH_SCHEDULE)}, but must stand beside DATASET_INDIVIDUAL and DATASET_BUSINESS.`,
    );
  }
  const local = readLocalServices(config.STATE_DIR);
  return {
    ...config,
    MCP_ALLOWED_HOSTS: hosts.length > 0 || PUBLIC_URL === undefined ? hosts : [new URL(PUBLIC_URL).hostname],
    OPENSEARCH_URL: config.OPENSEARCH_URL ?? local.opensearch ?? `http://${LOOPBACK}:9200`,
    REDIS_URL: config.REDIS_URL ?? local.redis ?? `redis://${LOOPBACK}:6379`,
  };
}

const localServices = z.object({
  opensearch: z.string().optional(),
  redis: z.string().optional(),
  api: z.string().optional(),
});

function readLocalServices(stateDir: string): z.output<typeof localServices> {
  try {
    return localServices.parse(JSON.parse(readFileSync(localServicesPath(stateDir), 'utf8')));
  } catch {
    return {};
  }
}

/** The URL of the API on this machine: the one `npm start` is running, or otherwise the one in the settings. */
export function localServiceUrl(environment: NodeJS.ProcessEnv = process.env): string {
  const { PORT, STATE_DIR } = readConfig(environment);
  return readLocalServices(STATE_DIR).api ?? `http://${LOOPBACK}:${PORT}`;
}

/**
 * Reads the file `.env` of the current folder into the environment, if it exists. Variables that are already set keep
 * their values. A folder called `.env`, such as one of Python's venv, is ignored.
 */
export function loadEnvironmentFile(): void {
  if (statSync('.env', { throwIfNoEntry: false })?.isDirectory() === false) process.loadEnvFile('.env');
}

/**
 * The file with the addresses of the servers that `npm start` runs: `{"opensearch": URL, "redis": URL, "api": URL}`.
 */
export function localServicesPath(stateDir: string): string {
  return join(resolve(stateDir), 'services.json');
}
