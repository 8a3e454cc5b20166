import { hash } from 'node:crypto';
import cors from '@koa/cors';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import createError from 'http-errors';
import compose from 'koa-compose';
import serverJson from '../../server.json' with { type: 'json' };
import type { Config } from '../config.ts';
import type { Middleware } from '../http/app.ts';
import { MCP_PATH } from './endpoint.ts';
import { REVISION } from './ordinary-calls.ts';
import { SERVER } from './tools.ts';

const CARD_PATH = `${MCP_PATH}/server-card`;
const CATALOG_PATH = '/.well-known/ai-catalog.json';

/** Where clients learn of the server before they connect: its card, where an earlier draft had it, and the catalog. */
export const DISCOVERY_PATHS = [CARD_PATH, '/.well-known/mcp/server-card', CATALOG_PATH];

const CARD_TYPE = 'application/mcp-server-card+json';
const CATALOG_TYPE = 'application/ai-catalog+json';

type Place = Pick<Config, 'PUBLIC_URL'>;

/** The name of the domain in reverse order, as names of servers have it: `gov.example.licenses`. */
function namespaceOf(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return hostname
    .replaceAll(/[^\w.-]/g, '-')
    .split('.')
    .reverse()
    .join('.');
}

/** The card of this server as the draft SEP-2127 of MCP has it. Without a public address it does not say where to connect. */
export function serverCard({ PUBLIC_URL: publicUrl }: Place) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${publicUrl === undefined ? 'localhost' : namespaceOf(publicUrl)}/${SERVER.name}`,
    title: SERVER.title,
    description: serverJson.description,
    version: SERVER.version,
    ...(publicUrl !== undefined && {
      websiteUrl: publicUrl,
      icons: [{ src: `${publicUrl}/favicon.svg`, mimeType: 'image/svg+xml', sizes: ['any'] }],
      remotes: [
        {
          type: 'streamable-http',
          url: `${publicUrl}${MCP_PATH}`,
          supportedProtocolVersions: [
            REVISION,
            ...SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version.startsWith('2025')),
          ],
        },
      ],
    }),
  };
}

/** The catalog of what this host has for assistants: the server's card. */
function aiCatalog(publicUrl: string) {
  const identifier = `urn:air:${new URL(publicUrl).hostname}:mcp:${SERVER.name}`;
  return { specVersion: '1.0', entries: [{ identifier, type: CARD_TYPE, url: `${publicUrl}${CARD_PATH}` }] };
}

/** Serves the card, and the catalog if there is a public address. Pages of every origin may read them. */
export function discovery(config: Place): Middleware {
  const { PUBLIC_URL: publicUrl } = config;
  const card = file(CARD_TYPE, serverCard(config));
  const catalog = publicUrl === undefined ? undefined : file(CATALOG_TYPE, aiCatalog(publicUrl));
  const serve: Middleware = (ctx) => {
    const served = ctx.path === CATALOG_PATH ? catalog : card;
    if (served === undefined) throw createError(404);
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('allow', 'GET, HEAD');
      throw createError(405);
    }
    ctx.set({ 'content-type': served.type, etag: served.etag, 'cache-control': 'public, max-age=3600' });
    ctx.body = served.text;
    if (ctx.fresh) ctx.status = 304;
  };
  const allowAll = cors({
    origin: '*',
    allowMethods: ['GET'],
    allowHeaders: ['Content-Type', 'If-None-Match'],
    exposeHeaders: 'ETag',
  });
  return compose([allowAll, serve]);
}

function file(type: string, content: object) {
  const text = JSON.stringify(content);
  return { type, text, etag: `"${hash('sha256', text).slice(0, 16)}"` };
}
