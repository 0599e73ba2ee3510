/** Where a call keeps its lists: in memory when there is room many times over, else on the disk. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endOf } from '../support/run-sync.ts';
import { sourced } from '../support/sandbox-program.ts';

const MIB = 1024 * 1024;
const GIB_IN_KIB = 1024 * 1024;

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'walkback-run-'));
  for (const name of ['home', 'memory']) mkdirSync(join(top, name));
});
afterEach(() => rmSync(top, { recursive: true }));

const bash = (script: string) =>
  endOf(
    '/bin/bash',
    [
      '-c',
      `cd '${top}'; set -- "$PATH" /nowhere
${sourced('shared/lib', 'shared/run')}MEMORY='${top}/memory' MOUNTS=mounts MEMINFO=meminfo HOME_DIR='${top}/home' SESSION=s1 CALL=c1
${script}`,
    ],
    { cwd: top, env: { PATH: process.env['PATH'] ?? '' }, encoding: 'latin1' },
  );

interface Machine {
  indexBytes?: string;
  total?: number;
  available?: number;
  shared?: number;
  mount?: string;
  /** What was mounted on top of it later. */
  over?: string;
}

/** All in KiB. A machine of 8 GiB unless said otherwise. */
const given = ({
  indexBytes = `${MIB}\n`,
  total = 8 * GIB_IN_KIB,
  available = 4 * GIB_IN_KIB,
  shared = 0,
  mount = `tmpfs ${top}/memory tmpfs rw,nosuid 0 0`,
}: Machine) => {
  writeFileSync(join(top, 'home/index-bytes-s1'), indexBytes);
  writeFileSync(
    join(top, 'meminfo'),
    `MemTotal:       ${total} kB\nMemFree:  1 kB\nMemAvailable:   ${available} kB\nBuffers: 5 kB\nShmem:     ${shared} kB\nKReclaimable: 7 kB\n`,
  );
  writeFileSync(join(top, 'mounts'), `proc /proc proc rw 0 0\n${mount}\n/dev/vda / ext4 rw 0 0\n`);
};

const WHERE = 'open_run quick && printf %s "$RUN"; [ -d "$RUN" ] && [ -d "$BULK" ] || printf " missing"';
const ofMemory = (call = 'c1') =>
  `${top}/memory/walkback-${process.getuid?.()}-${top.replaceAll('/', '-')}-${call}`;
const ofDisk = () => `${top}/home/run-s1/c1`;

/** For an index of 1 MiB, 48 MiB are asked for: twice what the file system has left, four times what the machine has. */
test.each<[string, Machine, boolean]>([
  ['a machine with room', {}, true],
  ['the memory file system just large enough', { mount: 'size=98304k' }, true],
  ['one page too small', { mount: 'size=98300k' }, false],
  ['large enough but half full', { mount: 'size=131072k', shared: 65_536 }, false],
  ['no size given: half of the memory', { total: 196_608 }, true],
  ['no size given, a small machine', { total: 196_604 }, false],
  ['just enough memory available', { available: 196_608 }, true],
  ['too little memory available', { available: 196_604 }, false],
  ['a large session', { indexBytes: `${200 * MIB}\n` }, false],
  ['no capture yet', { indexBytes: '' }, false],
  ['a note that is no number', { indexBytes: '1$(touch owned)\n' }, false],
  ['a disk at its place', { mount: 'ext4' }, false],
  ['room for few files', { mount: 'size=1048576k,nr_inodes=10000' }, false],
  ['room for many files', { mount: 'size=1048576k,nr_inodes=100000' }, true],
  ['a small one over it', { mount: 'size=1048576k', over: 'tmpfs rw,size=64k' }, false],
  ['a disk over it', { mount: 'size=1048576k', over: 'ext4 rw' }, false],
  ['a large one over a small one', { mount: 'size=64k', over: 'tmpfs rw,size=1048576k' }, true],
])('%s', (_what, machine, isMemory) => {
  const { mount, over } = machine;
  given({
    ...machine,
    ...(mount?.startsWith('size') && { mount: `shm ${top}/memory tmpfs rw,${mount},mode=1777 0 0` }),
    ...(mount === 'ext4' && { mount: `/dev/vdb ${top}/memory ext4 rw 0 0` }),
  });
  if (over !== undefined) appendFileSync(join(top, 'mounts'), `other ${top}/memory ${over} 0 0\n`);
  expect(bash(WHERE).stdout).toBe(isMemory ? ofMemory() : ofDisk());
  expect(existsSync(join(top, 'owned'))).toBe(false);
});

test('only a call that asks for it uses memory', () => {
  given({});
  expect(bash('open_run && printf %s "$RUN"').stdout).toBe(ofDisk());
});

test('what an earlier call left in memory sends the next ones to the disk, until it is old and removed', () => {
  given({});
  const left = ofMemory('c0');
  mkdirSync(left);
  expect(bash(WHERE).stdout).toBe(ofDisk());
  expect(existsSync(left)).toBe(true);
  const old = Date.now() / 1000 - 17 * 60;
  utimesSync(left, old, old);
  bash(WHERE);
  expect(existsSync(left)).toBe(false);
  expect(bash(WHERE).stdout).toBe(ofMemory());
});

test('a folder in memory that belongs to nobody of ours is not used', () => {
  given({});
  expect(
    bash(`mkdir() { command mkdir -p "$HOME_DIR/run-$SESSION/$CALL"; return 1; }; ${WHERE}`).stdout,
  ).toBe(ofDisk());
});

test.each([
  ['', false],
  ['bulk', true],
])('at its end both folders go, but for what is still read (%j)', (keep, isKept) => {
  given({});
  bash(`open_run quick; close_run ${keep}`);
  expect([existsSync(ofMemory()), existsSync(ofDisk())]).toEqual([false, isKept]);
});

test('on the disk, what is still read stays too', () => {
  given({ indexBytes: '' });
  bash('open_run quick; close_run bulk');
  expect(existsSync(ofDisk())).toBe(true);
});

test('a projects root with a long path has a name in memory too', () => {
  given({});
  const deep = `${'deep/'.repeat(60)}root`;
  const { stdout } = bash(`mkdir -p '${deep}'; ROOT=$PWD/${deep}; ${WHERE}`);
  expect(stdout).toMatch(/\/memory\/walkback-\d+-.*deep-root-c1$/);
  expect(stdout.split('/').at(-1)?.length).toBeLessThan(255);
});
