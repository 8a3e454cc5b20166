import type { FastifyInstance } from 'fastify';
import { daysBetween, todayInOhio } from '../licenses/dates.ts';
import type { LivePublication, LivePublicationTracker } from '../publications/live.ts';
import { SERVICE_VERSION } from '../version.ts';

/** The plain page at `/` and the state of the data at `/status`; neither needs a key. */
export function pageRoutes(app: FastifyInstance, tracker: LivePublicationTracker): void {
  app.get('/', (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(frontPage(tracker.current())),
  );
  app.get('/status', (_request, reply) => reply.send(status(tracker.current())));
}

/** How current the data is: fresh to 48 hours, late to 7 days, stale beyond. */
export function freshness(ageInDays: number): 'fresh' | 'late' | 'stale' {
  if (ageInDays <= 2) return 'fresh';
  return ageInDays <= 7 ? 'late' : 'stale';
}

function status(live: LivePublication | undefined): object {
  if (live === undefined) return { service_version: SERVICE_VERSION, publication: null };
  const { publication, date, sample, counts, verified_at } = live.metadata;
  const age = daysBetween(date, todayInOhio());
  return {
    service_version: SERVICE_VERSION,
    publication: {
      id: publication,
      date,
      age_in_days: age,
      freshness: freshness(age),
      sample,
      verified_at,
      counts,
    },
    licenses_by_board: Object.fromEntries(live.licenses),
  };
}

function frontPage(live: LivePublication | undefined): string {
  const data =
    live === undefined
      ? 'No dataset has been published yet.'
      : `It answers from the dataset of ${live.metadata.date}${live.metadata.sample ? ', which is generated sample data' : ''}.`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Ohio License Verification Service</title>
<h1>Ohio License Verification Service</h1>
<p>Verifies professional and business licenses of Ohio's 24 licensing boards. ${data}</p>
<ul>
<li>REST API: <code>POST /api/v1/lookup/verify</code>, with an API key</li>
<li>MCP server for assistants: <a href="/mcp">/mcp</a>, without a key</li>
<li>State of the data: <a href="/status">/status</a></li>
</ul>
`;
}
