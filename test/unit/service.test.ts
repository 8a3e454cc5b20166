import { expect, test } from '@jest/globals';
import { openService } from '../../src/cli/service.ts';

test.each([
  ['https://licenses.example.gov', 'https://licenses.example.gov'],
  ['https://licenses.example.gov/', 'https://licenses.example.gov'],
  ['http://127.0.0.1:3000//ohio//', 'http://127.0.0.1:3000//ohio'],
])('the service at %s is asked at %s', (url, asked) => {
  expect(openService({ url }).url).toBe(asked);
});
