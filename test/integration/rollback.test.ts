import { describe, expect, test } from '@jest/globals';
import { flip, indicesUnderAlias } from '../../src/publications/alias.ts';
import { publicationDetails, publicationHistory } from '../../src/publications/history.ts';
import { takeEpoch } from '../../src/publications/ledger.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { filesOf, newEnvironment, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

describe('a rollback', () => {
  test('skips publications that were rolled back', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const good = await published(environment, '2026-11-20');
    await published(environment, '2026-11-21');
    await rollBack(store);
    await published(environment, '2026-11-22');
    const { to } = await rollBack(store);
    expect(to.metadata.publication).toBe(good.publication);
    expect(await indicesUnderAlias(environment.store)).toEqual([good.index]);
    expect((await publicationHistory(environment.store)).publications.map(({ state }) => state)).toEqual([
      'rolled_back',
      'rolled_back',
      'live',
    ]);
  });

  test('can be undone: then neither publication counts as rolled back', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    await published(environment, '2026-11-20');
    const later = await published(environment, '2026-11-21');
    await rollBack(store);
    await rollBack(store, later.publication);
    expect((await publicationHistory(environment.store)).publications.map(({ state }) => state)).toEqual([
      'live',
      'superseded',
    ]);
    expect(await rollBack(store)).toMatchObject({
      from: { metadata: { publication: later.publication } },
    });
  });

  test('that is killed after its flip counts as a rollback, and the rolled-back files stay refused', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const first = await published(environment, '2026-11-20');
    const files = await filesOf(environment, '2026-11-21');
    const bad = await publishFiles(environment, files);
    const epoch = await takeEpoch(store, 'a rollback that is killed');
    await flip(store, first.index, epoch);

    expect(await publishFiles(environment, files, { isGuarded: true })).toMatchObject({
      state: 'refused',
      reasons: [`rolled_back: Publication ${bad.publication} had the same files and was rolled back.`],
    });
    expect((await publicationDetails(environment.store, bad.publication)).summary).toMatchObject({
      state: 'rolled_back',
    });
    expect((await publicationHistory(environment.store)).live).toMatchObject({
      publication: first.publication,
    });
  });
});
