/**
 * The sandbox program under the tracer (`sandbox/faults`), which lets a fault happen at one of its calls of the system. It is the
 * program that ships. Processes of git are not traced.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { readProgramBuild } from '../../adapters/git/program/build.ts';
import { createSandboxProgram, type SandboxProgram } from '../../adapters/git/program/call.ts';
import { buildTracer, isTracedHere } from '../../build/faults-program.ts';
import { hasCargo } from '../../build/sandbox-program.ts';
import { endOf } from './run-sync.ts';

/** As `Lack` in sandbox/faults/src/spec.rs. */
export const LACKS = ['rename-flags', 'links', 'unnamed-files', 'newer-calls'] as const;
export type Lack = (typeof LACKS)[number];

/** A whole run of tests as in a system that lacks these: names of `LACKS`, separated by commas. */
const ALWAYS = process.env['WALKBACK_LACKS'];

const REAL = join(
  import.meta.dirname,
  `../../sandbox/prebuilt/walkback-sandbox-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`,
);

/** As `Kind` in sandbox/faults/src/spec.rs. */
export type Kind =
  | 'creates'
  | 'writes'
  | 'renames'
  | 'links'
  | 'removals'
  | 'directories'
  | 'modes'
  | 'syncs';
type Errno = 'ENOSPC' | 'EIO' | 'EROFS';
type When = 'before' | 'after';
type Keeps = 'nothing' | 'names' | 'some';
/** As `Fault` there. */
export type Fault =
  | { kind: 'fail'; errno: Errno; when: When; lasts?: boolean }
  | { kind: 'shorten'; errno: Errno }
  | { kind: 'kill'; when: When }
  | { kind: 'lose'; when: When; keeps: Keeps; seed?: number }
  | { kind: 'lose-at-end'; keeps: Keeps; seed?: number };

export interface PlannedFault {
  /** At the so-manieth call of these kinds, from 1. */
  kinds?: readonly Kind[];
  /** Only calls about a path that ends with these names. */
  about?: string;
  at: number;
  does: Fault;
}

const told = z.strictObject({
  calls: z.partialRecord(
    z.enum(['creates', 'writes', 'renames', 'links', 'removals', 'directories', 'modes', 'syncs']),
    z.int(),
  ),
  chosen: z.int(),
  done: z.array(z.string()),
});
/** Of one start of the program. */
export type Told = z.infer<typeof told>;

let tracer: { path: string } | { missing: string } | undefined;

const findTracer = (): { path: string } | { missing: string } => {
  if (!isTracedHere) return { missing: 'the tracer needs Linux on x86_64' };
  if (!hasCargo()) return { missing: 'cargo is missing, which builds the tracer' };
  const path = buildTracer();
  const place = mkdtempSync(join(tmpdir(), 'walkback-traced-'));
  try {
    const spec = join(place, 'spec');
    writeFileSync(spec, JSON.stringify({ root: place, report: join(place, 'report') }));
    const env = { PATH: process.env['PATH'] ?? '' };
    const { status, stderr } = endOf(path, [spec, '--', 'true'], { cwd: '/', env });
    return status === 0 ? { path } : { missing: `nothing can be traced here: ${stderr}` };
  } finally {
    rmSync(place, { recursive: true });
  }
};

/** Why nothing can be traced here. The first call builds the tracer. */
export const whyUntraced = (): string | undefined => {
  if (ALWAYS !== undefined) return 'WALKBACK_LACKS has it traced already';
  tracer ??= findTracer();
  return 'missing' in tracer ? tracer.missing : undefined;
};

const tracerPath = (): string => {
  tracer ??= findTracer();
  if ('missing' in tracer) throw new Error(tracer.missing);
  return tracer.path;
};

/** The program as in a system that lacks these. The directory is for files of the tracer. */
export const programLacking = (lacks: readonly Lack[], directory: string): SandboxProgram => {
  const [spec, report, path] = ['spec', 'report', 'lacking'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  // Some tests are another user.
  chmodSync(directory, 0o755);
  writeFileSync(report, '');
  chmodSync(report, 0o666);
  writeFileSync(spec, JSON.stringify({ root: directory, report, lacks }));
  writeFileSync(path, `#!/bin/sh\nexec ${tracerPath()} ${spec} -- ${REAL} "$@"\n`, { mode: 0o755 });
  return createSandboxProgram({ ...readProgramBuild(), path: () => path }, true);
};

let lacking: SandboxProgram | undefined;

/** The program that `WALKBACK_LACKS` asks for. */
export const programAsAsked = (): SandboxProgram | undefined => {
  if (ALWAYS === undefined || lacking !== undefined) return lacking;
  const place = mkdtempSync(join(tmpdir(), 'walkback-lacking-'));
  process.once('exit', () => rmSync(place, { recursive: true }));
  lacking = programLacking(z.array(z.enum(LACKS)).parse(ALWAYS.split(',')), place);
  return lacking;
};

export const tracedProgram = () => {
  const path = tracerPath();
  const place = mkdtempSync(join(tmpdir(), 'walkback-traced-'));
  const [traced, wrap, spec, report] = ['traced', 'wrap', 'spec', 'report'].map((name) =>
    join(place, name),
  ) as [string, string, string, string];
  const prefix: string[] = [];
  writeFileSync(traced, `#!/bin/sh\nexec ${path} ${spec} -- ${REAL} "$@"\n`, { mode: 0o755 });
  // Of a shell and its text, the program is another one.
  writeFileSync(wrap, `#!/bin/bash\nexec "$1" "$2" "\${3//${REAL.replaceAll('/', '\\/')}/${traced}}"\n`, {
    mode: 0o755,
  });
  return {
    /** Of the harness's commands. */
    prefix,
    /** While this work is done, at each start of the program. Only calls below `root` count. Without a fault, they are counted. */
    during: async <Answer>(
      root: string,
      planned: PlannedFault | undefined,
      work: () => Promise<Answer>,
    ): Promise<{ answer: Answer; told: Told[] }> => {
      const fault = planned && { at: planned.at, does: planned.does };
      writeFileSync(
        spec,
        JSON.stringify({ root, report, kinds: planned?.kinds, about: planned?.about, fault }),
      );
      writeFileSync(report, '');
      prefix.push(wrap);
      try {
        const answer = await work();
        const lines = readFileSync(report, 'utf8').trim().split('\n');
        return {
          answer,
          told: lines.flatMap((line) => (line === '' ? [] : [told.parse(JSON.parse(line))])),
        };
      } finally {
        prefix.length = 0;
      }
    },
    [Symbol.dispose]: () => rmSync(place, { recursive: true }),
  };
};
export type TracedProgram = ReturnType<typeof tracedProgram>;
