/**
 * @room website
 * @long
 */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { programPath } from '../../scripts/program-path.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { eventually } from '../support/eventually.ts';
import { sharedService } from '../support/shared-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { axeViolations } from '../support/website.ts';

const FIREFOX = programPath('firefox-esr') ?? programPath('firefox');
const ENTER = '\uE007';

const message = z.object({
  ...{ id: z.int().optional(), message: z.string().optional(), params: z.unknown().optional() },
  result: z.unknown().optional(),
});
const tree = z.object({ contexts: z.array(z.object({ context: z.string() })).min(1) });
const value = z.object({ value: z.unknown().optional() });
const evaluated = z.object({ type: z.literal('success'), result: value });

type Message = z.output<typeof message>;

/** A tab of a Firefox without a window, driven by WebDriver BiDi: Playwright's own Firefox is a download. */
async function firefoxTab(program: string, profile: string) {
  const options = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'];
  const env = { ...process.env, HOME: profile };
  const browser = spawn(program, options, { stdio: ['ignore', 'ignore', 'pipe'], env });
  atEndOfTestFile(async () => browser.kill());
  let url: string | undefined;
  for await (const line of createInterface(browser.stderr)) {
    url = /WebDriver BiDi listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  const socket = new WebSocket(`${url}/session`);
  const events: Message[] = [];
  const waiting = new Map<number | undefined, (answer: Message) => void>();
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  socket.addEventListener('message', ({ data }) => {
    const read = message.parse(JSON.parse(String(data)));
    if (read.id === undefined) events.push(read);
    waiting.get(read.id)?.(read);
  });
  async function command(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    const id = waiting.size + 1;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { message: problem, result } = await answer;
    if (result === undefined) throw new Error(`${method}: ${problem}`);
    return result;
  }
  await command('session.new', { capabilities: {} });
  await command('session.subscribe', { events: ['log.entryAdded'] });
  const [{ context } = { context: '' }] = tree.parse(await command('browsingContext.getTree')).contexts;
  return {
    /** What the page has written to the console. */
    log: () => events,
    open: (url: string) => command('browsingContext.navigate', { context, url, wait: 'complete' }),
    resize: (width: number) =>
      command('browsingContext.setViewport', { context, viewport: { width, height: 900 } }),
    async evaluate(expression: string): Promise<unknown> {
      const script = { expression, target: { context }, awaitPromise: true };
      return evaluated.parse(await command('script.evaluate', script)).result.value;
    },
    async type(text: string) {
      const actions = [...text].flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })));
      await command('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
    },
  };
}

describeUnless(
  FIREFOX === undefined ? 'firefox is missing; install it (Debian: apt-get install firefox-esr)' : undefined,
  'the website, in Firefox',
  () => {
    const profile = temporaryFolder();
    let origin: string;
    let tab: Awaited<ReturnType<typeof firefoxTab>>;
    beforeAll(async () => {
      const { environment } = await sharedService('evaluation');
      origin = `http://127.0.0.1:${environment.config.PORT}`;
      tab = await firefoxTab(FIREFOX ?? '', profile.path());
    });

    test.each([
      ...['/', '/?q=Baxter', '/?q=Nobody+Atall', '/?q=&city=*', '/licenses/NUR/RN.900266001'],
      ...['/licenses/NUR/RN.900433210', '/roster', '/data', '/developers', '/about', '/no-such-page'],
    ])('%s is accessible and no wider than the screen, on a phone, too', async (path) => {
      await tab.open(origin + path);
      for (const width of [1440, 390]) {
        await tab.resize(width);
        expect(await axeViolations(tab.evaluate)).toEqual([]);
        expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    });

    test('a license is looked up from the box of another page, and its check is saved', async () => {
      await tab.open(`${origin}/about`);
      await tab.evaluate("document.getElementById('site-search').focus()");
      await tab.type(`rn 900433210${ENTER}`);
      const path = () => tab.evaluate('location.pathname');
      await eventually('the license is shown', async () => (await path()) === '/licenses/NUR/RN.900433210');
      expect(await tab.evaluate("document.querySelector('.verdict').textContent")).toContain('Suspended');
      await tab.evaluate('document.querySelector(\'[action="/records"] button\').click()');
      await eventually('the record is shown', async () => String(await path()).startsWith('/records/'));
      const isHidden = () => tab.evaluate("document.querySelector('[data-action=print]').hidden");
      await eventually('the script shows the button that prints', async () => (await isHidden()) === false);
      expect(tab.log()).toEqual([]);
    });
  },
);
