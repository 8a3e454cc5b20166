/** @room races @long */

import { describe, expect, test } from '@jest/globals';
import { switchesOf } from '../../src/changes/feed.ts';
import { flip } from '../../src/publications/fence.ts';
import { publicationDetails, publicationHistory, reconcileLedger } from '../../src/publications/history.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { indicesUnderAlias, liveIndex } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { takeEpoch } from '../support/epoch.ts';
import { cut, throughProxy } from '../support/proxy.ts';
import { filesOf, newEnvironment, nurses, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

/** The nurses of every day, in another city. */
const MOVED = { individual: nurses(20).map((row) => ({ ...row, city: 'AKRON' })) };

describe('a rollback', () => {
  test('that is killed after its flip counts as a rollback, and the rolled-back files stay refused', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const first = await published(environment, '2026-11-20');
    const files = await filesOf(environment, '2026-11-21');
    const bad = await publishFiles(environment, files);
    const epoch = await takeEpoch(store, 'a rollback that is killed');
    await flip(store, { to: first.index, epoch, isRollback: true });

    expect(await publishFiles(environment, files, { isGuarded: true })).toMatchObject({
      state: 'refused',
      reasons: [`rolled_back: Publication ${bad.publication} had the same files and was rolled back.`],
    });
    expect((await publicationDetails(store, bad.publication)).summary.state).toBe('rolled_back');
    expect((await publicationHistory(store)).live?.publication).toBe(first.publication);
  });

  test('that is killed at any of its requests can be done again, and no change is lost', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const first = await published(environment, '2026-11-20');
    const second = await published(environment, '2026-11-21', MOVED);
    const files = { [first.publication]: first.index, [second.publication]: second.index };
    for (let killedAt = 1, to = first.publication; ; killedAt += 1) {
      let made = 0;
      const rollingBack = throughProxy(
        environment,
        (request) => {
          made += 1;
          return made < killedAt ? request.forward() : cut(request);
        },
        (through) => rollBack(through.store, to),
      );
      const [ended] = await Promise.allSettled([rollingBack]);
      await reconcileLedger(store);
      if ((await liveIndex(store)) !== files[to]) await rollBack(store, to);
      expect(await indicesUnderAlias(store)).toEqual([files[to]]);
      const switches = switchesOf((await liveFeed(store)).state);
      // Each change of what is live is one of the 20 nurses' city: back and forth, and none is left out.
      const counts = switches.map(({ changes }) => changes).filter((count) => count !== 20);
      expect({ killedAt, counts }).toEqual({ killedAt, counts: [] });
      if (ended.status === 'fulfilled') return;
      to = to === first.publication ? second.publication : first.publication;
    }
  });
});
