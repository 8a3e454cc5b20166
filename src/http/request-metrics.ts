import type { KeyUsage } from '../access/key-usage.ts';
import { requestSeconds } from '../telemetry/metrics.ts';
import { statusOutcome } from '../telemetry/outcome.ts';
import { type Middleware, whenClosed } from './context.ts';

/** Counts how each request at an interface ended and how long it took, and for whose key. */
export function counted(name: 'rest' | 'mcp' | 'web', usage: KeyUsage): Middleware {
  return (ctx, next) => {
    whenClosed(ctx, () => {
      const { arrivedAt, keyId, outcome = statusOutcome(ctx.status) } = ctx.state;
      requestSeconds.observe({ interface: name, outcome }, (performance.now() - arrivedAt) / 1000);
      if (keyId !== undefined) usage.count(keyId, outcome);
    });
    return next();
  };
}
