import { expect, test } from '@jest/globals';
import { publicReason } from '../../src/web/data-page.ts';

test.each([
  ['row_count: 3 rows, fewer than 10.', '3 rows, fewer than 10.'],
  ['The source https://data.example/a?token=b failed.', 'The source (address) failed.'],
  ['No (s3+http://data.example/a), nor ftp.x-y://b.', 'No ((address) nor (address)'],
  ['It is at -http://data.example and 1http://data.example', 'It is at (address) and (address)'],
  ['It is :// a.b.c, or http: //a.', 'It is :// a.b.c, or http: //a.'],
  [
    'No /data/state/a.csv and no C:\\data\\a.csv, but a/b and 1/2.',
    'No (file) and no (file), but a/b and 1/2.',
  ],
])('of the reason %j, the website shows %j', (reason, shown) => {
  expect(publicReason(reason)).toBe(shown);
});
