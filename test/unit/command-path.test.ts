import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandPath } from '../support/command-path.ts';

test('a command is found as a shell finds it: not a directory, nor a file that cannot be run', () => {
  const root = mkdtempSync(join(tmpdir(), 'walkback-path-'));
  try {
    const places = ['directory', 'text', 'program'].map((name) => join(root, name));
    const [directory = '', text = '', program = ''] = places;
    mkdirSync(join(directory, 'env'), { recursive: true });
    for (const place of [text, program]) {
      mkdirSync(place);
      writeFileSync(join(place, 'env'), '#!/bin/sh\n');
    }
    chmodSync(join(program, 'env'), 0o755);
    expect(commandPath('env', places.join(':'))).toBe(join(program, 'env'));
    expect(commandPath('env', directory)).toBeUndefined();
  } finally {
    rmSync(root, { recursive: true });
  }
});
