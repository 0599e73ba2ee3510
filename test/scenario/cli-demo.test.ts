/** One act of the demo; all of them in cli-demo.long.test.ts. */
import { describe, expect } from 'vitest';
import { openCliScene } from '../support/cli.ts';
import { inTurn } from '../support/sampled-test.ts';

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
});
