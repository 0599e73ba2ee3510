/** Who may read what a session stored: the use cases over real git, with a sandbox that lies (docs/security.md). */
import { describe, expect } from 'vitest';
import { failing } from '../support/fakes/failing.ts';
import { createGitStage, type GitStage } from '../support/git-stage.ts';
import { standingOn } from '../support/hostile-output.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-tenants');

const SECRET =
  'mkdir app && cd app && git init -q -b main . && echo secret > f && git add -A && git commit -qm secret';
const NOTHING = 'mkdir app && cd app && git init -q -b main .';

/** Whether any git directory of a repository has that object. */
const has = (stage: GitStage, sandboxId: string, id: string): boolean =>
  stage
    .sh(
      sandboxId,
      `for g in .git .agent-shadow/*/; do git --git-dir="$g" cat-file -t ${id} 2>/dev/null || :; done`,
      'app',
    )
    .includes('commit');

/**
 * A victim has a history in the store. An attacker, who has nothing but the id of its HEAD, says that its own capture stands on
 * that commit, and asks for the capture in a fresh sandbox.
 */
const attack = async (stage: GitStage, tenants: { victim?: string; attacker?: string }) => {
  const victim = await stage.addSandbox();
  stage.sh(victim, SECRET);
  await stage.start('victim', victim, { tenant: tenants.victim });
  const commit = stage.sh(victim, 'git rev-parse HEAD', 'app').trim();

  const attacker = await stage.addSandbox();
  stage.sh(attacker, NOTHING);
  await stage.start('attacker', attacker, { tenant: tenants.attacker });
  stage.sh(attacker, 'echo mine > g', 'app');
  // A clean shadow, so that the capture makes a first link.
  stage.sh(attacker, 'rm -rf app/.agent-shadow .agent-shadow');
  stage.lies.set(attacker, standingOn(`sha1-${commit}`, commit));
  const taken = await stage.checkpoint('attacker', 't1');
  stage.lies.delete(attacker);
  return { commit, taken };
};

describe('a sandbox that names a commit it does not have', () => {
  test.each([
    ['of a session, from another session', {}],
    ['of another tenant', { victim: 'bank', attacker: 'shop' }],
    ['of a session, from a tenant of its name', { attacker: 'victim' }],
  ])('%s, is believed nothing', async (_which, tenants) => {
    await using stage = await createGitStage();
    const { message } = await failing(attack(stage, tenants), 'CaptureFailed');
    expect(message).toContain('app: its base bundle was not made');
  });

  test('of its own tenant, gets its history: that is what a tenant shares', async () => {
    await using stage = await createGitStage();
    const { taken, commit } = await attack(stage, { victim: 'bank', attacker: 'bank' });
    expect(taken.failures).toEqual([]);
    const copy = await stage.rehydrate('attacker', taken.checkpointId);
    expect(has(stage, copy.sandboxId, commit)).toBe(true);
  });
});
