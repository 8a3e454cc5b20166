import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { readConfig, SETTING_NAMES } from '../../src/config.ts';

const text = await readFile(resolve(import.meta.dirname, '../../.env.example'), 'utf8');

test('.env.example names every setting', () => {
  const named = [...text.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name]) => name).sort();
  expect(named).toEqual([...SETTING_NAMES].sort());
});

test('.env.example has the default of each setting', () => {
  const given = Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const alone = { STATE_DIR: '/nowhere' };
  expect(readConfig({ ...given, ...alone })).toEqual(readConfig(alone));
});
