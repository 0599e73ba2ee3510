/** Captures in sandboxes of other kinds than this machine: with the program alone, and git. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OUTPUT_BYTES } from '../../adapters/git/announced.ts';
import { type ProgramBuild, readProgramBuild } from '../../adapters/git/program/build.ts';
import { createSandboxProgram, type SandboxProgram } from '../../adapters/git/program/call.ts';
import { createCapture } from '../../adapters/git/program/capture.ts';
import { DEFAULTS } from '../../core/checkpoint/defaults.ts';
import type { CaptureReport } from '../../core/checkpoint/ports/capture.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { captureRequest, knownFrom } from './capture-request.ts';
import { commandPath } from './command-path.ts';
import { processSandbox } from './process-sandbox.ts';
import { runSync } from './run-sync.ts';

const env = { PATH: process.env['PATH'] ?? '' };

/** Captures again and again, each on the one before. `toolExecutionId` counts. */
export const capturesIn = (program: SandboxProgram, sandbox: ExecutionAdapter, projectsRoot: string) => {
  const capture = createCapture(program, OUTPUT_BYTES);
  let before: CaptureReport['repositories'] = [];
  let count = 0;
  return async (): Promise<CaptureReport> => {
    count += 1;
    const report = await capture(
      sandbox,
      captureRequest(projectsRoot, 's1', {
        toolExecutionId: `t${count}`,
        messageId: `m${count}`,
        known: knownFrom(before),
        targets: [],
        maxFileBytes: DEFAULTS.maxFileBytes,
        maxDepth: DEFAULTS.maxDepth,
        maxInlineBytes: 1 << 30,
        timeoutMs: 240_000,
      }),
      async () => null,
    );
    before = report.repositories;
    return report;
  };
};

/** Makes each captured tree of `reports`, one after the other, from nothing but its bundles. */
export const broughtBack = (reports: readonly CaptureReport[]): Record<string, string>[] => {
  const top = mkdtempSync(join(tmpdir(), 'walkback-bundles-'));
  const git = (store: string, ...args: string[]): string =>
    runSync('git', [`--git-dir=${store}`, ...args], { cwd: top, env: { ...env, HOME: '/dev/null' } });
  try {
    return reports.map(({ repositories, bundles }, at) =>
      Object.fromEntries(
        repositories.flatMap((one) => {
          if (one.state !== 'captured') return [];
          const store = join(top, one.path.replaceAll('/', '%'));
          git(store, 'init', '-q', '--bare', store);
          const own = bundles.filter(({ repositoryPath }) => repositoryPath === one.path);
          for (const { kind, bytes, commit } of own.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))) {
            const file = join(top, `${at}-${kind}`);
            writeFileSync(file, bytes ?? new Uint8Array());
            git(store, 'bundle', 'unbundle', file);
            git(store, 'update-ref', `refs/kept/${commit}`, commit);
          }
          return [[one.path, git(store, 'ls-tree', '-r', '--name-only', `${one.commit}^{tree}`)]];
        }),
      ),
    );
  } finally {
    rmSync(top, { recursive: true });
  }
};

/** Programs of Linux read /proc. */
const IN_ROOT = 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"';

/** A root directory with busybox, git and the libraries that git needs, and nothing else: no bash, no program of GNU. */
export const busyboxRoot = (busybox: string) => {
  const top = mkdtempSync(join(tmpdir(), 'walkback-busybox-'));
  const copy = (file: string): void => {
    mkdirSync(join(top, dirname(file)), { recursive: true });
    copyFileSync(file, join(top, file));
  };
  const git = commandPath('git') ?? '';
  const libraries = runSync('ldd', [git], { cwd: '/', env }).matchAll(/(\/\S+) \(0x/g);
  for (const file of [git, ...[...libraries].map(([, library = '']) => library)]) copy(file);
  for (const name of ['bin', 'dev', 'proc', 'tmp', 'root', 'projects'])
    mkdirSync(join(top, name), { recursive: true });
  copyFileSync(busybox, join(top, 'bin/busybox'));
  chmodSync(join(top, 'bin/busybox'), 0o755);
  runSync('chroot', [top, '/bin/busybox', '--install', '-s', '/bin'], { cwd: '/', env });
  for (const [name, number] of [
    ['null', '3'],
    ['urandom', '9'],
  ] as const)
    runSync('mknod', ['-m', '666', join(top, 'dev', name), 'c', '1', number], { cwd: '/', env });
  const inner = processSandbox(
    { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' },
    ['unshare', '-m', '/bin/sh', '-c', IN_ROOT, top],
    '/bin/sh',
  );
  const here = (path: string): string => join(top, path);
  const sandbox: ExecutionAdapter = {
    ...inner,
    run: (command, options) => inner.run(`cd ${options.cwd} || exit\n${command}`, { ...options, cwd: '/' }),
    writeFiles: (files) => inner.writeFiles(files.map((file) => ({ ...file, path: here(file.path) }))),
    readFile: (path, maxBytes) => inner.readFile(here(path), maxBytes),
    writeStream: (path, data) => inner.writeStream(here(path), data),
    readStream: (path) => inner.readStream(here(path)),
  };
  return {
    sandbox,
    /** As this machine sees it. */
    root: join(top, 'projects'),
    /** As the sandbox sees it. */
    projectsRoot: '/projects',
    programs: (): string[] => readdirSync(join(top, 'bin')),
    [Symbol.dispose]: () => rmSync(top, { recursive: true }),
  };
};

/** The packaged program for arm64, run by an emulator. Git stays that of this machine. */
export const emulated = (emulator: string, directory: string): SandboxProgram => {
  const build = readProgramBuild();
  const path = join(directory, 'walkback-sandbox-emulated');
  writeFileSync(path, `#!/bin/sh\nexec '${emulator}' '${build.path('aarch64')}' "$@"\n`, { mode: 0o755 });
  const elsewhere: ProgramBuild = { ...build, path: () => path };
  return createSandboxProgram(elsewhere, true);
};
