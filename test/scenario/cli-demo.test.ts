/** One act of the demo. In `npm run test:long` all of them, one after the other; and the picture of the README, which shows what a fresh run answers. */
import { readFileSync } from 'node:fs';
import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drawPicture } from '../../build/picture/draw.ts';
import { playPictureRun } from '../../build/picture/run.ts';
import { ACTS } from '../../cli/demo/acts.ts';
import { visibleLength } from '../../cli/terminal/columns.ts';
import { PROJECT } from '../../local/template.ts';
import { openCliScene } from '../support/cli.ts';
import { inTurn, longTest } from '../support/sampled-test.ts';

const test = inTurn('cli-demo');

describe('walkback demo', () => {
  test('plays one act alone, and refuses an act that is not there', async () => {
    await using scene = await openCliScene({ WALKBACK_DAEMON: 'on' });
    const one = await scene.run(['demo', '--json', '--act', 'refund']);
    expect(one.code, one.stderr).toBe(0);
    expect(one.stderr).toContain('walkback demo --act changesets');
    expect(JSON.parse(one.stdout)).toMatchObject({
      acts: [{ name: 'refund' }],
      sagas: { resolved: { status: 'COMPENSATED' } },
    });
    const none = await scene.run(['demo', '--act', 'third']);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('Allowed choices are checkpoints, refund, gang, changesets');
  });

  longTest(
    'tells the story, proves that everything came back, answers the comparisons, and leaves nothing behind',
    async () => {
      await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-beside-'));
      await using scene = await openCliScene({ WALKBACK_DAEMON: 'on', TMPDIR: directory.path });
      const { code, stdout, stderr: story } = await scene.run(['demo', '--json', '--act', ...ACTS]);
      expect(code, story).toBe(0);
      expect(story).toContain('all 34 equal');
      expect(story).not.toContain('✘ equal');
      // A long word is never cut, nor a row of ids: somebody may copy them.
      const isCopied = (line: string) => !line.trim().includes(' ') || line.includes('└');
      for (const line of story.split('\n').filter((one) => !isCopied(one)))
        expect(visibleLength(line), line).toBeLessThanOrEqual(80);
      const answer: Record<string, unknown> = JSON.parse(stdout);
      expect(answer).toMatchObject({
        equal: true,
        acts: [{ name: 'checkpoints' }, { name: 'refund' }, { name: 'gang' }, { name: 'changesets' }],
      });
      expect(answer['rehydrated']).toHaveLength(4);
      expect(answer['gang']).toMatchObject({
        asked: { status: 'AWAITING' },
        completed: { status: 'COMPLETED', epoch: 1 },
        standing: { refunds: { 'order-mug': 1, 'order-lamp': 1, 'order-chair': 1 }, mails: 1, repeated: 0 },
        ledgers: { sagas: 7, findings: [] },
      });
      expect(answer['changesets']).toMatchObject({
        verified: [
          { agent: 'ada', broken: [] },
          { agent: 'bo', broken: ['shop-works'], why: 'no currency in settings.default' },
          { agent: 'cleo', broken: [] },
          { agent: 'bo', broken: [] },
        ],
        entries: [
          { agent: 'ada', status: 'COMPLETED' },
          { agent: 'bo', status: 'COMPLETED' },
          { agent: 'cleo', status: 'COMPENSATED', step: 'merge', error: 'ChangesetConflict' },
          { agent: 'cleo', status: 'COMPLETED' },
        ],
      });
      expect(await readdir(directory.path)).toEqual([]);
    },
  );
});

longTest('docs/picture.svg shows what its run answers now (npm run picture)', async () => {
  const run = await playPictureRun();
  expect(run.rewound.repositories).toEqual(run.before.repositories);
  expect(run.worked.repositories).not.toEqual(run.before.repositories);
  expect(run.rewound.payments).toEqual([
    { kind: 'payment', cents: 4200 },
    { kind: 'refund', cents: 4200 },
  ]);
  expect(readFileSync(join(PROJECT, 'docs/picture.svg'), 'utf8')).toBe(drawPicture(run));
});
