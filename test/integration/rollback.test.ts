import { describe, expect, test } from '@jest/globals';
import { publicationHistory } from '../../src/publications/history.ts';
import { indicesUnderAlias } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { newEnvironment, published } from '../support/publication-days.ts';

describe('a rollback', () => {
  test('without an earlier publication says which there are', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    await expect(rollBack(store)).rejects.toThrow(/^There is no earlier publication to roll back to\.$/);
    const only = await published(environment, '2026-11-20');
    await expect(rollBack(store)).rejects.toThrow('There is no earlier publication to roll back to.');
    expect(await indicesUnderAlias(store)).toEqual([only.index]);
  });

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
});
