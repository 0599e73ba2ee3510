/**
 * No test relies on a server's or a command's refusal for its own safety: what a test removes, overwrites or ends lies
 * below a directory that was made for it, or has a name that only it knows. So a test can be pointed at any server, and
 * one that forgets to refuse does no harm to whoever runs it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

/** A call that changes something, with its first argument when that is a literal. */
const CALLS =
  /\b(?:files\.(?:remove|write|makeDir|rename)|(?<!process\.)\.?kill|rm|rmSync|rmdir|rmdirSync|unlink|unlinkSync|truncate|rename|renameSync)\(\s*(?<quote>['"`])(?<path>(?:(?!\k<quote>).)*)\k<quote>/g;
/** A shell command that removes or overwrites, with what follows it. */
const SHELL =
  /\b(?:rm|rmdir|unlink|shred|truncate|mv)\s+(?:-[-\w]+\s+)*(?<path>["']?(?:\/|~|\$HOME|\.\.)[^\s;&|'`]*)/g;

/** Directories that a sandbox has to itself; elsewhere, a name of the test's own must be part of the path. */
const OWN = /^(?:\/tmp\/[\w$]|\/home\/user\/[\w$]|\/dev\/shm\/[\w$])|\$\{/;
/** The top of a git harness' repository is two levels below its temporary directory. */
const SHELL_OWN = /^["']?(?:\.\.\/|\/tmp\/[\w$]|\$HOME"?\/[\w.])|\$\{/;
/** A loop over literals whose variable goes to one of the calls. */
const LOOPS = /for \(const (?<name>\w+) of \[(?<items>[^\]]*)\]\)(?<body>(?:(?!\n\s*for \()[\s\S]){0,300})/g;

const isSafe = (path: string): boolean => {
  if (path.includes('${')) return true;
  if (path.split('/').includes('..')) return false;
  return path === '' || !path.startsWith('/') || OWN.test(path);
};

interface UnsafeCall {
  line: number;
  text: string;
}

const findings = (source: string): UnsafeCall[] => {
  const at = (index = 0) => source.slice(0, index).split('\n').length;
  const calls = [...source.matchAll(CALLS)]
    .filter(({ groups }) => !isSafe(groups?.['path'] ?? ''))
    .map((match) => ({ line: at(match.index), text: match[0] }));
  const commands = [...source.matchAll(SHELL)]
    .filter(({ groups }) => !SHELL_OWN.test(groups?.['path'] ?? ''))
    .map((match) => ({ line: at(match.index), text: match[0] }));
  const loops = [...source.matchAll(LOOPS)].flatMap(({ groups = {}, index }) => {
    const used = new RegExp(
      `(?:files\\.(?:remove|write|makeDir|rename)|kill|rm|rmSync|unlink)\\(${groups['name']}\\b`,
    );
    if (!used.test(groups['body'] ?? '')) return [];
    return [...(groups['items'] ?? '').matchAll(/(['"`])(.*?)\1/g)]
      .map(([, , path = '']) => path)
      .filter((path) => !isSafe(path))
      .map((text) => ({ line: at(index), text }));
  });
  return [...calls, ...commands, ...loops];
};

describe('the rule itself finds', () => {
  test.each([
    `sandbox.files.remove('/')`,
    `sandbox.files.remove('/etc/passwd')`,
    `sandbox.files.write('/../../secret', 'x')`,
    `sdk.kill('../../etc')`,
    `await rm('/', { recursive: true })`,
    `run('rm -rf /')`,
    `for (const path of ['/', 'a']) await sandbox.files.remove(path)`,
    `run('rm -rf ~')`,
    `run("rm -rf --no-preserve-root /etc")`,
  ])('%s', (source) => {
    expect(findings(source)).toHaveLength(1);
  });

  test.each([
    "sandbox.files.remove('/tmp/x')",
    "sandbox.files.remove('relative')",
    `sandbox.files.remove(\`/\${own}/x\`)`,
    `run('rm -rf .agent-shadow')`,
    `process.kill(pid)`,
  ])('nothing in %s', (source) => {
    expect(findings(source)).toEqual([]);
  });
});

test('what tests, benchmarks and examples remove is their own', async () => {
  const found: string[] = [];
  let files = 0;
  for (const folder of ['test', 'bench', 'examples'])
    for (const entry of await readdir(join(PROJECT, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || !/\.(?:ts|mjs|sh)$/.test(entry.name) || path === import.meta.filename) continue;
      files += 1;
      for (const { line, text } of findings(await readFile(path, 'utf8')))
        found.push(`${path.slice(PROJECT.length + 1)}:${line}: ${text}`);
    }
  expect(files).toBeGreaterThan(150);
  expect(found).toEqual([]);
});
