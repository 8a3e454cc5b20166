import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from '@jest/globals';
import { isInstalled } from '../../scripts/program-path.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';

const NO_CURL = isInstalled('curl') ? undefined : 'curl is missing';

const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
};

describeUnless(NO_CURL, 'the examples of the page for developers', () => {
  let service: ReadService;
  beforeAll(async () => {
    service = await sharedService('evaluation');
  });

  /** The commands of the page, with a real key. */
  async function examples(): Promise<string[]> {
    const page = await (await fetch(`http://127.0.0.1:${service.environment.config.PORT}/developers`)).text();
    return [...page.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, escaped = '']) =>
      escaped.replaceAll(/&\w+;|&#39;/g, (entity) => ENTITIES[entity] ?? entity),
    );
  }

  test('run as they stand', async () => {
    const [verify = '', roster = '', changes = ''] = await examples();
    const answerTo = (command: string) => {
      const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', command], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env.PATH, KEY: service.rest.key },
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`exit code ${status}: ${command}\n${stderr}`);
      return stdout;
    };
    const withKey = verify.replace('YOUR_KEY', service.rest.key);
    expect(JSON.parse(answerTo(withKey.replace('RN.987654321', 'RN.900418822')))).toMatchObject({
      found: true,
    });
    expect(JSON.parse(answerTo(withKey))).toMatchObject({
      detail: expect.stringContaining('No license with the number "RN.987654321"'),
    });
    expect(answerTo(roster)).toContain('result_outcome');
    expect(JSON.parse(answerTo(changes))).toMatchObject({ changes: expect.any(Array), more: false });
  });
});
