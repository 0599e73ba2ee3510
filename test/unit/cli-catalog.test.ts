/** `walkback catalog`: what is stored, and what is due for review. */

import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/recording-app.ts';

const env = { USER: 'ada' };
describe('walkback catalog', () => {
  test('put says what was stored, and what will not work yet', async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-catalog-'));
    const file = join(directory.path, 'catalog.json');
    await writeFile(file, JSON.stringify({ tools: [], definitions: [] }));
    const versions = [{ kind: 'tool', name: 'pay', version: '1', stored: true }];
    const answers = { 'walkback-put-catalog': { versions, warnings: ['its function is not there yet'] } };
    const { stdout, stderr } = await runCommand(['catalog', 'put', file], { answers, env });
    expect(stdout).toBe('✔ tool pay@1\n');
    expect(stderr).toContain('! its function is not there yet');
  });

  const tool = (name: string, more: object) => ({
    name,
    version: '1',
    effect: 'read',
    description: '',
    functionName: 'fn',
    endpoint: null,
    compensator: null,
    probe: false,
    ...more,
  });

  test('review lists the tools past their date, and list shows the date of each', async () => {
    const answers = {
      'walkback-list-catalog': {
        tools: [
          tool('old', { reviewBy: '2026-01-01', daysToReview: -3 }),
          tool('new', { reviewBy: '2026-02-01', daysToReview: 30 }),
          tool('plain', {}),
        ],
        definitions: [],
      },
    };
    const of = async (...more: string[]) => (await runCommand(['catalog', ...more], { answers, env })).stdout;
    expect(await of('review')).toMatch(/old@1 .*2026-01-01/);
    expect(await of('review')).not.toMatch(/new@1|plain@1|TEMPLATE/);
    expect(await of('review', '--within', '60')).toContain('new@1');
    expect(await of('review', '--within', '60')).not.toContain('plain@1');
    expect(await of('list')).toMatch(/REVIEW BY[^]*old@1 .*2026-01-01[^]*plain@1 +read +- +no +- +fn/);
    const json = await runCommand(['--json', 'catalog', 'review'], { answers, env });
    expect(JSON.parse(json.stdout)).toMatchObject({ tools: [{ name: 'old' }], definitions: [] });
    const none = { 'walkback-list-catalog': { tools: [tool('plain', {})], definitions: [] } };
    expect((await runCommand(['catalog', 'review'], { answers: none, env })).stdout).toBe(
      'No tool and no template is due for review.\n',
    );
  });

  test('review lists the templates past their date', async () => {
    const definition = (name: string, daysToReview: number) => ({
      name,
      version: '1',
      description: '',
      steps: ['a'],
      reviewBy: '2026-01-01',
      daysToReview,
    });
    const answers = {
      'walkback-list-catalog': { tools: [], definitions: [definition('old', -3), definition('new', 30)] },
    };
    const { stdout } = await runCommand(['catalog', 'review'], { answers, env });
    expect(stdout).toContain('old@1');
    expect(stdout).not.toContain('new@1');
    expect((await runCommand(['catalog', 'review', '--within', '60'], { answers, env })).stdout).toContain(
      'new@1',
    );
  });
});
