import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { numberKey } from '../../src/licenses/fold.ts';
import { recordIn, safeDetailIn } from '../support/answers.ts';
import type { ApiClient } from '../support/api.ts';
import { postBody } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const VERIFY = '/api/v1/lookup/verify';
const GOOD = { board: NURSING, license_number: 'RN.700001' };

let service: TestService;
let rest: ApiClient;

beforeAll(async () => {
  service = await startService();
  rest = service.rest;
});

describe('404', () => {
  verifies(
    ['VERSIONS-01', 'ERRORS-07'],
    'for an unknown path, and for a known path without the version',
    async () => {
      for (const path of [
        '/lookup/verify',
        '/api/lookup/verify',
        '/api/v2/lookup/verify',
        '/api/v1/lookup',
      ]) {
        expect([path, safeDetailIn(await rest.verify(GOOD, path), 404)]).toEqual([
          path,
          expect.stringContaining('/api/v1/lookup/verify'),
        ]);
      }
      for (const path of ['/nothing', '/api/v1/lookup/boards/Nursing%20Board', '/api/v1', '/%E0%A4%A']) {
        safeDetailIn(await rest.get(path), 404);
      }
      expect((await rest.verify(GOOD)).status).toBe(200);
    },
  );

  test('never because of a trailing slash', async () => {
    expect((await rest.verify(GOOD, `${VERIFY}/`)).status).toBe(200);
    expect((await rest.get('/api/v1/lookup/boards/')).status).toBe(200);
  });
});

describe('405', () => {
  verifies(
    ['ERRORS-09', 'ERRORS-07', 'SERVICE-07'],
    'for any other method, and lists the allowed ones: no method changes data',
    async () => {
      for (const [path, allowed] of [
        [VERIFY, 'POST'],
        ['/api/v1/lookup/cached', 'POST'],
        ['/api/v1/lookup/boards', 'HEAD, GET'],
        ['/api/v1/lookup/boards/Nursing%20Board/types', 'HEAD, GET'],
      ] as const) {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
          if (allowed.includes(method)) continue;
          const answer = await rest.request(method, path);
          expect([method, path, answer.status]).toEqual([method, path, 405]);
          safeDetailIn(answer, 405);
          expect(answer.headers.get('allow')).toBe(allowed);
        }
      }
    },
  );
});

describe('413 and 415', () => {
  verifies('ERRORS-10', 'for a body that is too large, with or without Content-Length', async () => {
    for (const size of [17_000, 300_000]) {
      const body = JSON.stringify({ ...GOOD, filler: 'x'.repeat(size) });
      safeDetailIn(await postBody(service, body), 413);
    }
    const packed = gzipSync(JSON.stringify({ ...GOOD, filler: 'x'.repeat(1_000_000) }));
    safeDetailIn(await postBody(service, packed, { 'content-encoding': 'gzip' }), 413);
  });

  verifies(['ERRORS-10', 'REST-02'], 'for a body that is not sent as JSON', async () => {
    const body = JSON.stringify(GOOD);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'json',
      '',
    ]) {
      expect([type, safeDetailIn(await postBody(service, body, { 'content-type': type }), 415)]).toEqual([
        type,
        expect.stringContaining('application/json'),
      ]);
    }
    for (const encoding of ['snappy', 'zstd', 'gzip, br']) {
      expect(safeDetailIn(await postBody(service, body, { 'content-encoding': encoding }), 415)).toBe(
        'This Content-Encoding is not taken; send the body as it is, or with gzip, deflate or br.',
      );
    }
    for (const encoding of ['GZIP', 'Gzip', 'x-gzip']) {
      const answer = await postBody(service, gzipSync(body), { 'content-encoding': encoding });
      expect([encoding, recordIn(answer).license_number]).toEqual([encoding, 'RN.700001']);
    }
    const plain = await postBody(service, body, { 'content-encoding': 'Identity' });
    expect(recordIn(plain).license_number).toBe('RN.700001');
    const written = await postBody(service, body, { 'content-type': 'Application/JSON; charset=utf-8' });
    expect(recordIn(written).license_number).toBe('RN.700001');
  });
});

describe('500', () => {
  verifies(['ERRORS-06', 'ERRORS-07'], 'for an internal error, and reveals nothing about it', async () => {
    const { store, client } = service.environment;
    const index = store.names.alias;
    await client.indices.putSettings({ index, body: { 'index.blocks.write': false } });
    const broken = { license_number: 'BROKEN.1', keys: { number: numberKey('BROKEN.1'), kind: 'person' } };
    await client.index({ index, body: broken, refresh: true });
    const answer = await rest.verify({ board: NURSING, license_number: 'BROKEN.1' });
    expect(safeDetailIn(answer, 500)).not.toMatch(/BROKEN|zod|full_name|invalid/i);
    await service.api.printed('"request failed"');
  });
});
