import { METHODS } from 'node:http';
import { Router, type RouterContext } from '@koa/router';
import createError from 'http-errors';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import type { RequestState } from './context.ts';

/** One operation of the service: its address, its OpenAPI entry and its handler. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** The path, with parameters as @koa/router takes them, such as `/lookup/boards/:board/types`. */
  readonly path: string;
  /** Its entry in the OpenAPI document: schemas, possible responses, examples. Pages have none. */
  readonly operation?: ZodOpenApiOperationObject;
  readonly handle: (ctx: RouterContext<RequestState>) => void | Promise<void>;
}

/** Serves the routes. Every other method at one of their paths gets 405 with Allow. */
export function routerOf(routes: readonly Route[]): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true });
  for (const [path, atPath] of Map.groupBy(routes, (route) => route.path)) {
    const handlers = new Map<string, Route['handle']>();
    for (const { method, handle } of atPath) {
      if (method === 'GET') handlers.set('HEAD', handle);
      handlers.set(method, handle);
    }
    const allowed = [...handlers.keys()].join(', ');
    router.register(path, METHODS, (ctx) => {
      const handle = handlers.get(ctx.method);
      if (handle !== undefined) return handle(ctx);
      ctx.set('Allow', allowed);
      throw createError(405);
    });
  }
  return router;
}

/** The routes' entries in the OpenAPI document, by path and method. */
export function openApiPaths(routes: readonly Route[]): ZodOpenApiPathsObject {
  const paths = new Map<string, ZodOpenApiPathsObject[string]>();
  for (const { method, path, operation } of routes) {
    if (operation === undefined) continue;
    const documented = path.replaceAll(/:(\w+)/g, '{$1}');
    paths.set(documented, { ...paths.get(documented), [method.toLowerCase()]: operation });
  }
  return Object.fromEntries(paths);
}
