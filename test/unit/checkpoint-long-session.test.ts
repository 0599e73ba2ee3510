/** Chains of a session of many checkpoints and many days, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import { createNewStage, SANDBOX } from '../support/fakes/stage.ts';

describe('a long session', () => {
  test('never has more than 32 light links below a checkpoint, and all of them restore elsewhere', async () => {
    const stage = createNewStage();
    await stage.instance().startSession();
    const recorded: Record<string, Record<string, string>>[] = [];
    for (let at = 1; at <= 150; at++) {
      stage.edit('api', { 'a.txt': `version ${at}` });
      await stage.instance().checkpoint(`m${at}`, `t${at}`);
      recorded.push(stage.world.filesOf(SANDBOX));
    }
    const links = stage.checkpoints().map(({ repositories }) => repositories[0]?.link ?? -1);
    expect(Math.max(...links)).toBe(31);
    expect(links.filter((link) => link === 0)).toHaveLength(5);
    const bases = [...stage.bucket.objects.keys()].filter((key) => key.startsWith('bases/'));
    expect(bases).toHaveLength(2);
    for (const at of [1, 31, 32, 33, 150]) {
      const { sandboxId } = await stage.instance().rehydrate({ messageId: `m${at}` });
      expect(stage.world.filesOf(sandboxId)).toEqual(recorded[at - 1]);
    }
  });
});

describe('retention', () => {
  test('a chain outlives every checkpoint that stands on it, however long the session lasts', async () => {
    const stage = createNewStage();
    await stage.instance().startSession();
    for (let day = 1; day <= 100; day++) {
      stage.passMs(86_400_000);
      if (day % 3 === 0) stage.edit('api', { 'a.txt': `day ${day}` });
      await stage.instance().checkpoint(`m${day}`, `t${day}`);
      const { links, bases } = stage.store.tables;
      const head = stage.checkpoints().at(-1);
      for (const { chainId, base, baseOwner } of head?.repositories ?? []) {
        const below = [...links.values()].filter((link) => link.chainId === chainId);
        expect(Math.min(...below.map(({ expiresAt }) => expiresAt))).toBeGreaterThanOrEqual(
          head?.expiresAt ?? 0,
        );
        if (base !== undefined) {
          expect(bases.get(`${baseOwner}\n${base}`)?.expiresAt).toBeGreaterThanOrEqual(head?.expiresAt ?? 0);
        }
      }
    }
  });
});
