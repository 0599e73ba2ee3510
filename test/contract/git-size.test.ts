/** Many files and large ones; ten times as many in `npm run test:long`. */
import { describe, expect } from 'vitest';
import { withTwoFiles } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';
import { WHOLE } from '../support/sampling.ts';

const test = inTurn('git-size');

const FILES = WHOLE ? 50_000 : 5_000;

describe('size', () => {
  test(`${FILES} files, and a 20 MiB file that is read as a file of its own`, async () => {
    await using harness = await withTwoFiles(['app'], { maxInlineBytes: 64 << 20 });
    harness.sh(
      `mkdir -p many; cd many; seq 1 ${FILES} | split -l 1 -a 5 -d - f; cd ..; head -c 20971520 /dev/urandom > big.bin`,
      'app',
    );
    const first = await harness.capture();
    expect(first.report.bundles.filter((bundle) => bundle.bytes === undefined)).toHaveLength(0);
    harness.sh('rm -rf many/f??0?? big.bin', 'app');
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(report.repositories[0]?.written).toBe(FILES / 10 + 1);
    expect(harness.sh('ls many | wc -l; stat -c %s big.bin; git status --short', 'app')).toBe(
      `${FILES}\n20971520\n?? big.bin\n?? many/\n`,
    );
  });

  test('many checkpoints: plain git finds the tag of each, and they do not stay a file each', async () => {
    await using harness = await withTwoFiles(['app']);
    await harness.capture();
    const shadow = 'cd .agent-shadow/session-s1;';
    harness.sh(`${shadow} cd refs/tags/chkpt; for i in $(seq 100 170); do cp t1 old$i; done`, 'app');
    for (const content of ['two', 'three']) {
      harness.sh(`echo ${content} > a.txt`, 'app');
      await harness.capture();
    }
    const last = `${shadow} git --git-dir=. show -s --format=%B chkpt/t3; git --git-dir=. show chkpt/t3:a.txt`;
    expect(harness.sh(last, 'app')).toMatch(/Tool-Execution: t3\n+three\n$/);
    expect(harness.sh(`${shadow} git --git-dir=. tag | wc -l; ls refs/tags/chkpt`, 'app')).toBe(
      '74\nt2\nt3\n',
    );
  });
});
