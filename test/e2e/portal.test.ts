import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startWorker } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { NO_OPENSSL, selfSigned } from '../support/certificate.ts';
import { licensesOf, writeDay } from '../support/day-files.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { command } from '../support/in-process.ts';

const BASIC = `Basic ${Buffer.from('ann:passwordsecret').toString('base64')}`;
const PIECE_BYTES = 2000;

interface Asked {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** What the portal and its file store are asked, in order. */
const asked: { portal: Asked[]; store: Asked[] } = { portal: [], store: [] };
const servers: Server[] = [];
let environment: TestEnvironment;
let settings: Record<string, string>;
let worker: RunningProcess;
let individual: Buffer;
let isDown = false;

async function https(
  { key, certificate }: Record<'key' | 'certificate', string>,
  listener: RequestListener,
): Promise<string> {
  const server = createServer({ key: await readFile(key), cert: await readFile(certificate) }, listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `https://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

describeUnless(NO_OPENSSL, 'a portal that asks for a password and redirects to a store of files', () => {
  beforeAll(async () => {
    environment = await testEnvironment();
    const day = await writeDay(environment.folder, 'day', {
      date: '2026-11-20',
      individual: licensesOf('Nursing Board', 'RN.', 200),
      business: licensesOf('Board of Pharmacy', '02', 3),
    });
    individual = await readFile(day.individual);
    const business = gzipSync(await readFile(day.business));
    const pem = await selfSigned(environment.folder);

    const store = await https(pem, ({ url = '', headers }, response) => {
      asked.store.push({ url, headers });
      const etag = `"${url}"`;
      const content = url.startsWith('/individual') ? individual : business;
      if (headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
      const [, from] = /^bytes=(\d+)-/.exec(headers.range ?? '') ?? [];
      if (from !== undefined) {
        const range = `bytes ${from}-${content.length - 1}/${content.length}`;
        return void response
          .writeHead(206, { etag, 'content-range': range })
          .end(content.subarray(Number(from)));
      }
      // Slowly, without Content-Length; and the first time it breaks off.
      response.writeHead(200, { etag, 'content-type': 'application/octet-stream' });
      const isCut = url.startsWith('/individual');
      const end = isCut ? content.length / 2 : content.length;
      let at = 0;
      const sendPiece = () => {
        response.write(content.subarray(at, Math.min(end, at + PIECE_BYTES)));
        at += PIECE_BYTES;
        if (at < end) setTimeout(sendPiece, 100);
        else if (isCut) response.destroy();
        else response.end();
      };
      sendPiece();
    });
    const portal = await https(pem, ({ url = '', headers }, response) => {
      asked.portal.push({ url, headers });
      if (isDown) return void response.end('<html><body>We are back at six.</body></html>');
      const isKnown = headers.authorization === BASIC && url.endsWith('?token=tokensecret');
      const location = `${store}${url.replace('?token=tokensecret', '')}`;
      response.writeHead(isKnown ? 302 : 401, isKnown ? { location } : {}).end();
    });
    const addressOf = (name: string) =>
      `${portal.replace('//', '//ann:passwordsecret@')}/${name}?token=tokensecret`;
    settings = {
      ...environment.variables,
      STATE_DIR: environment.folder,
      NODE_EXTRA_CA_CERTS: pem.certificate,
      DATASET_INDIVIDUAL: addressOf('individual.csv'),
      DATASET_BUSINESS: addressOf('business.csv.gz'),
    };
    worker = await startWorker(settings);
  });
  afterAll(async () => {
    for (const server of servers) server.closeAllConnections();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });

  test('is published from: it resumes, keeps its secrets from the store, and is not asked twice for the same files', async () => {
    const { code, stdout, stderr } = await command(settings, 'publish');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\w+: downloading \(step 1 of 9\)/m);
    expect(stdout).toMatch(/^Live: publication \w+, dataset of 2026-11-20: 203 rows/m);
    const [first, second] = asked.store.filter(({ url }) => url.startsWith('/individual'));
    expect(first?.headers).not.toHaveProperty('range');
    expect(second?.headers).toMatchObject({ range: expect.stringMatching(/^bytes=\d+-/) });
    for (const { url, headers } of asked.portal)
      expect([headers.authorization, url]).toEqual([BASIC, expect.stringContaining('tokensecret')]);
    for (const each of asked.store) expect(JSON.stringify(each)).not.toMatch(/secret|authorization/);

    const before = asked.store.length;
    const again = await command(settings, 'publish');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Skipped: /m) });
    const conditions = asked.store.slice(before).map(({ headers }) => headers['if-none-match']);
    expect(conditions).toEqual(['"/individual.csv"', '"/business.csv.gz"']);
  });

  test('that sends a page in place of the file fails the publication, and says so without its secrets', async () => {
    isDown = true;
    try {
      const { code, stderr } = await command(settings, 'publish');
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^Failed: https:\/\/127\.0\.0\.1:\d+\/individual\.csv\?… could not be downloaded: the server sent a web page/m,
      );
      expect(stderr + worker.output()).not.toContain('secret');
    } finally {
      isDown = false;
    }
  });
});
