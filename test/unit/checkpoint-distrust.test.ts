/** What a checkpoint believes of its sandbox, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import type { CaptureReport, ClaimedCapture } from '../../core/checkpoint/ports/capture.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { failing } from '../support/fakes/failing.ts';
import { createBundle, sha1 } from '../support/fakes/fake-bundle.ts';
import { createWorkingStage } from '../support/fakes/stage.ts';

describe('a sandbox that lies (C10)', () => {
  const lie = async (change: (report: CaptureReport) => CaptureReport) => {
    const stage = await createWorkingStage();
    stage.world.beforeAnswer = change;
    const answer = await stage.instance().checkpoint('m3', 't3');
    return { answer, stage };
  };
  const withBundle = (
    report: CaptureReport,
    change: (bundle: CaptureReport['bundles'][number]) => Partial<CaptureReport['bundles'][number]>,
  ): CaptureReport => ({
    ...report,
    bundles: report.bundles.map((bundle) => ({ ...bundle, ...change(bundle) })),
  });
  const withRepository = (report: CaptureReport, change: Partial<ClaimedCapture>): CaptureReport => ({
    ...report,
    repositories: report.repositories.map((one) =>
      one.state === 'captured' && one.path === 'api' ? { ...one, ...change } : one,
    ),
  });

  test.each<[string, (report: CaptureReport) => CaptureReport]>([
    ['bytes that do not hash', (report) => withBundle(report, () => ({ sha256: '0'.repeat(64) }))],
    ['a size that is not so', (report) => withBundle(report, () => ({ sizeBytes: 1 }))],
    ['no bundle', (report) => ({ ...report, bundles: [] })],
    ['a bundle of another commit', (report) => withBundle(report, () => ({ commit: sha1('x') }))],
    ['a commit the bundle does not hold', (report) => withRepository(report, { commit: sha1('x') })],
    ['no commit id', (report) => withRepository(report, { commit: '$(id)' })],
    ['"unchanged" for another tree', (report) => withRepository(report, { changed: false })],
    [
      'a base with a path in its name',
      (report) => withRepository(report, { chain: 'rebase', base: '../../x' }),
    ],
    ['nothing uploaded', (report) => withBundle(report, () => ({ bytes: undefined }))],
    [
      'silence about a repository',
      (report) => ({ ...report, repositories: report.repositories.filter(({ path }) => path !== 'api') }),
    ],
  ])('%s fails that repository alone, and the checkpoint says so', async (_name, change) => {
    const { answer, stage } = await lie(change);
    expect(answer.complete).toBe(false);
    expect(answer.failures.map(({ path }) => path)).toEqual(['api']);
    expect(answer.repositories.find(({ path }) => path === 'api')).toMatchObject({
      commit: null,
      changed: false,
    });
    // The next honest capture goes on from the last good one.
    stage.world.beforeAnswer = (report) => report;
    const next = await stage.instance().checkpoint('m3', 't4');
    expect(next.complete).toBe(true);
  });

  test('a path that leads out of the root is not stored', async () => {
    const { answer } = await lie((report) => ({
      ...report,
      repositories: [
        ...report.repositories,
        {
          path: '../../etc',
          state: 'captured',
          commit: sha1('c'),
          tree: sha1('t'),
          meta: sha1('m'),
          changed: false,
        },
      ],
    }));
    expect(answer.repositories.map(({ path }) => path)).not.toContain('../../etc');
  });

  test('a commit that is stored already, with other content, damages nothing that stands on it', async () => {
    const stage = await createWorkingStage();
    const [baseline, second] = stage.checkpoints();
    const before = baseline?.repositories.find(({ path }) => path === 'api');
    if (before?.commit === undefined || before.baseCommit === undefined) throw new Error('no capture');
    const { commit, base, baseCommit, tree, meta } = before;
    const bytes = createBundle(commit, [baseCommit], { damaged: true });
    stage.world.beforeAnswer = (report) =>
      withRepository(
        {
          ...report,
          bundles: [
            {
              repositoryPath: 'api',
              kind: 'link',
              commit,
              sizeBytes: bytes.length,
              sha256: sha256Hex(bytes),
              bytes,
            },
          ],
        },
        { commit, tree, meta, chain: 'restart', base, baseCommit },
      );
    await stage.instance().checkpoint('m3', 't3');
    stage.world.beforeAnswer = (report) => report;
    const { sandboxId } = await stage.instance().rehydrate({ checkpointId: second?.checkpointId });
    expect(stage.world.filesOf(sandboxId)['api']).toEqual({ 'a.txt': 'two' });
  });

  test('nothing captured at all is an error, and no checkpoint', async () => {
    const stage = await createWorkingStage();
    stage.world.beforeAnswer = (report) => ({
      ...report,
      repositories: report.repositories.map(({ path }) => ({ path, state: 'failed', changed: false })),
      failures: [{ path: 'api', reason: 'disk full' }],
    });
    const { message } = await failing(stage.instance().checkpoint('m3', 't3'), 'CaptureFailed');
    expect(message).toContain('disk full');
    expect(stage.checkpoints()).toHaveLength(3);
  });
});
