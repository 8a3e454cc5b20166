import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { ApiClient } from '../support/api.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';

let service: TestService;
let rest: ApiClient;

beforeAll(async () => {
  service = await startService();
  rest = service.rest;
});
afterAll(() => service.stop());

describe('/lookup/cached', () => {
  const BODIES = [
    { board: NURSING, license_number: 'RN.700001', license_type: 'Registered Nurse (RN)' },
    { board: NURSING, license_number: 'RN.999999' },
    { board: PHARMACY, license_number: 'RN.700001' },
    { board: NURSING, last_name: 'Smith' },
    { board: NURSING, license_number: 'RN.700001', last_name: 'Smith' },
    { board: NURSING, license_number: 'RN.0700001' },
    { board: NURSING, last_name: 'Nobody' },
    { board: NURSING, last_name: 'Smiht' },
    { board: PHARMACY, search_type: 'business', business_name: 'best' },
    { board: 'Nursing Bord', license_number: 'RN.700001' },
    { board: NURSING },
  ];

  verifies(
    ['VERSIONS-02', 'VERSIONS-03', 'VERSIONS-04'],
    'responds byte for byte as /lookup/verify, even with errors, plus headers that name its successor',
    async () => {
      for (const body of BODIES) {
        const current = await rest.verify(body);
        const deprecated = await rest.verify(body, '/api/v1/lookup/cached');
        expect([deprecated.status, deprecated.text]).toEqual([current.status, current.text]);
        expect(deprecated.headers.get('deprecation')).toMatch(/^@\d+$/);
        expect(deprecated.headers.get('link')).toBe('</api/v1/lookup/verify>; rel="successor-version"');
        expect(current.headers.get('deprecation')).toBeNull();
        expect(current.headers.get('link')).toBeNull();
      }
    },
  );

  verifies('VERSIONS-04', 'sends these headers for every form of its path', async () => {
    for (const [path, status, isDeprecated] of [
      ['/api/v1/lookup/cached/', 200, true],
      ['/api/v1/lookup/cached?x=1', 200, true],
      ['/api/v1/lookup/CACHED', 404, false],
    ] as const) {
      const { headers, ...answer } = await rest.verify(BODIES[0], path);
      expect([path, answer.status, headers.has('deprecation')]).toEqual([path, status, isDeprecated]);
    }
  });
});
