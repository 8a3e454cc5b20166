import { afterAll, describe, expect, test } from '@jest/globals';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { publishQueue } from '../../src/publications/job.ts';

/** Far longer than a response takes, so that a request without a response fails. */
const ANSWERED_WITHIN_MS = 30_000;

const environment = await testEnvironment();
await startApi(environment.variables);
const queue = publishQueue(environment.config);
afterAll(() => queue.close());

/** The board's response at this path. */
async function board(path: string, method = 'GET') {
  const signal = AbortSignal.timeout(ANSWERED_WITHIN_MS);
  const url = `http://127.0.0.1:${environment.config.ADMIN_PORT}/queues${path}`;
  const response = await fetch(url, { method, redirect: 'manual', signal });
  const { status, headers } = response;
  return { status, headers, text: await response.text(), type: headers.get('content-type') };
}

/** The URLs that a page or style sheet makes a browser load. */
function loadedBy(text: string): string[] {
  const links = [...text.matchAll(/<(?:link|script|img|iframe)\b[^>]*?\b(?:href|src)="([^"]*)"/g)];
  const urls = [...text.matchAll(/url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)/g)];
  return [...links, ...urls].map(([, first, second]) => first ?? second ?? '');
}

/** No option of the board removes it. */
const FONTS = /<link href="https:\/\/fonts\.googleapis\.com[^>]*>/;

async function queuesShown(): Promise<unknown> {
  const { text } = await board('/api/queues?activeQueue=publish&page=1&jobsPerPage=10');
  return JSON.parse(text).queues;
}

const SAMPLE_JOB = {
  publication: 'run1',
  individual: { path: '/data/individual.csv', sha256: 'a' },
  business: { path: '/data/business.csv', sha256: 'b' },
};

describe('the queue board', () => {
  test.each(['', '/queue/publish/run1'])('answers /queues%s with its page', async (path) => {
    const page = await board(path);
    expect([page.status, page.type]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toMatch(/<title>Publications<\/title>.*<\/html>/s);
    expect(page.headers.get('content-length')).toBe(String(Buffer.byteLength(page.text)));
  });

  test('loads every asset from its own host, but for a style sheet of fonts that its policy forbids', async () => {
    const page = await board('');
    expect(page.headers.get('content-security-policy')).toContain("style-src 'self' 'unsafe-inline';");
    const html = page.text.replace(FONTS, '');
    const assets = loadedBy(html);
    for (const ending of ['.js', '.css'])
      expect(assets).toContainEqual(expect.stringMatching(`\\${ending}$`));
    expect(page.text).toContain('<base href="/queues/" />');
    expect(html).not.toMatch(/(?:https?:)?\/\/(?!127\.0\.0\.1)\w/);
    for (const asset of assets) {
      const answered = await board(`/${asset}`);
      expect([asset, answered.status]).toEqual([asset, 200]);
      if (!asset.endsWith('.css')) continue;
      expect(answered.type).toBe('text/css; charset=utf-8');
      expect(loadedBy(answered.text).filter((url) => !url.startsWith('data:'))).toEqual([]);
    }
  });

  test.each(['', '/api/queues', '/nothing'])('lets browsers ask no other host: /queues%s', async (path) => {
    const policy = (await board(path)).headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'self'.*frame-ancestors 'none'/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src/);
  });

  test('shows the publish queue with its job and progress', async () => {
    const job = await queue.add('publish', SAMPLE_JOB, { jobId: 'run1' });
    const progress = { step: 'loading', done: 5, total: 10 };
    await job.updateProgress(progress);
    const jobs = [{ id: 'run1', name: 'publish', data: SAMPLE_JOB, progress }];
    expect(await queuesShown()).toMatchObject([
      { name: 'publish', readOnlyMode: true, allowRetries: false, jobs },
    ]);
    expect((await board('/api/queues/publish/run1')).text).toContain('"status":"waiting"');
  });

  test.each([
    ['POST', '/add'],
    ['PUT', '/pause'],
    ['PATCH', '/run1/update-data'],
    ['DELETE', '/run1'],
  ])('refuses %s %s and changes nothing', async (method, path) => {
    await queue.add('publish', SAMPLE_JOB, { jobId: 'run1' });
    const before = await queuesShown();
    const refused = await board(`/api/queues/publish${path}`, method);
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(JSON.parse(refused.text)).toHaveProperty('detail');
    expect([await queuesShown(), await queue.isPaused()]).toEqual([before, false]);
  });
});
