import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { visibleLength } from '../../cli/terminal/text.ts';
import { openCliScene } from '../support/cli.ts';

const leftovers = async (): Promise<string[]> =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('walkback-demo-'));

describe('walkback demo', { timeout: 180_000 }, () => {
  it('proves that everything came back, and leaves nothing behind', async () => {
    await using scene = await openCliScene();
    const before = await leftovers();
    const { code, stdout, stderr } = await scene.run(['demo']);
    expect(stderr).not.toContain('Failed');
    expect(stdout).toContain('all 8 equal');
    expect(stdout).not.toContain('✘ equal');
    expect(code).toBe(0);
    for (const line of stdout.split('\n')) expect(visibleLength(line)).toBeLessThanOrEqual(80);
    expect(await leftovers()).toEqual(before);
  });

  it('answers the comparisons with --json', async () => {
    await using scene = await openCliScene();
    const answer = await scene.json(['demo']);
    expect(answer).toMatchObject({ equal: true });
    expect(answer['rehydrated']).toHaveLength(4);
  });
});
