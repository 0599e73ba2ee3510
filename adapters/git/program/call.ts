/** Calls the sandbox program, and brings it there when it is absent. */
import { randomBytes } from 'node:crypto';
import type * as z from 'zod';
import { type SandboxCommand, sandboxRequest } from '../../../contract/sandbox/requests.ts';
import type { CommandOptions, CommandResult, CommandRunner } from '../../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { readReport } from './answer.ts';
import { ARCHITECTURES, type Architecture, type ProgramBuild } from './build.ts';
import {
  ABSENT_EXIT,
  absentOn,
  callText,
  fitsCommand,
  incomingName,
  installText,
  obstacleIn,
} from './command.ts';

interface Where {
  projectsRoot: string;
  timeoutMs: number;
}

export interface SandboxProgram {
  /**
   * One round trip; two more in a sandbox that lacks the program, and one more for a request that is too long for a
   * command. Throws `SandboxUnsupported` where the program cannot run, `SandboxUnavailable` when the answer does not
   * count, and what the program refuses.
   */
  call<Report>(
    sandbox: CommandRunner,
    command: SandboxCommand,
    report: z.ZodType<Report>,
    where: Where & Pick<CommandOptions, 'onErrorLine'>,
  ): Promise<Report>;
  /** The same, for a caller that reads the answer itself. It hears each line of the output and of standard error, and knows the mark of the call. */
  run(
    sandbox: CommandRunner,
    command: SandboxCommand,
    where: Where & { mark: string } & Pick<CommandOptions, 'onLine' | 'onErrorLine'>,
  ): Promise<CommandResult>;
}

/** The program ends itself this long before its caller gives up. */
const LEAD_MS = 2_000;

const newCall = (): string => randomBytes(9).toString('hex');

const architectureOf = (machine: string): Architecture => {
  const found = ARCHITECTURES.find(
    (one) =>
      one === machine ||
      (one === 'aarch64' && machine === 'arm64') ||
      (one === 'x86_64' && machine === 'amd64'),
  );
  if (found !== undefined) return found;
  throw new WalkbackError(
    'SandboxUnsupported',
    `The sandbox runs on ${machine || 'an unknown machine'}. Walkback has programs for ${ARCHITECTURES.join(' and ')}: use a sandbox on one of these.`,
    { details: { machine } },
  );
};

const notStarted = (): WalkbackError =>
  new WalkbackError(
    'SandboxUnsupported',
    'The program of Walkback cannot be started in this sandbox. It was tried in /opt/walkback, in the cache directory of the user (XDG_CACHE_HOME, else .cache in HOME), and in .agent-shadow/bin of the projects root: let the user write into one of these, on a file system without noexec.',
  );

/** Throws where a call said that something stands in the way of what is sent. */
const requireWay = ({ exitCode, stdout }: CommandResult, mark: string, projectsRoot: string): void => {
  const obstacle = exitCode === ABSENT_EXIT ? obstacleIn(stdout, mark) : undefined;
  if (obstacle === undefined) return;
  throw new WalkbackError(
    'SandboxUnsupported',
    `${projectsRoot}/${obstacle}. Walkback keeps its own files there: rename or remove it, then call again.`,
  );
};

/** `isHere`: sandboxes are directories of this machine, so the packaged program is started where it lies. */
export const createSandboxProgram = (build: ProgramBuild, isHere = false): SandboxProgram => {
  const localPath = isHere ? build.path(process.arch === 'arm64' ? 'aarch64' : 'x86_64') : undefined;
  const run: SandboxProgram['run'] = async (sandbox, command, where) => {
    const { projectsRoot, timeoutMs, mark, onLine, onErrorLine } = where;
    const request = JSON.stringify(
      sandboxRequest.parse({ mark, timeoutMs: Math.max(1, timeoutMs - LEAD_MS), command }),
    );
    const common = { mark, build, ...(localPath !== undefined && { local: localPath }) };
    const incoming = async (data: Uint8Array | string): Promise<string> => {
      const name = incomingName(newCall());
      await sandbox.writeFiles([{ path: `${projectsRoot}/${name}`, data }]);
      return name;
    };
    const short = { ...common, request: { text: request } };
    const text = fitsCommand(callText(short))
      ? short
      : { ...common, request: { file: await incoming(request) } };
    const start = (shell: string): Promise<CommandResult> =>
      sandbox.run(shell, {
        cwd: projectsRoot,
        timeoutMs,
        ...(onLine && { onLine }),
        ...(onErrorLine && { onErrorLine }),
      });
    let result = await start(callText(text));
    requireWay(result, mark, projectsRoot);
    const machine = result.exitCode === ABSENT_EXIT ? absentOn(result.stdout, mark) : undefined;
    if (machine !== undefined) {
      const architecture = architectureOf(machine);
      const uploaded = await incoming(build.bytes(architecture));
      result = await start(installText(text, architecture, uploaded));
      requireWay(result, mark, projectsRoot);
      if (result.exitCode === ABSENT_EXIT && absentOn(result.stdout, mark) !== undefined) throw notStarted();
    }
    return result;
  };
  return {
    run,
    async call(sandbox, command, report, where) {
      const mark = `walkback-${newCall()}`;
      return readReport(report, await run(sandbox, command, { ...where, mark }), mark);
    },
  };
};
