/** Captures with the program what other processes wrote during a restore, from the folders in which restores keep it. */
import type * as z from 'zod';
import { SANDBOX_REPORTS } from '../../../contract/sandbox/reports.ts';
import type { SandboxCommand } from '../../../contract/sandbox/requests.ts';
import type { CaptureOutline, CaptureRequest } from '../../../core/checkpoint/ports/capture.ts';
import type { Repositories } from '../../../core/checkpoint/ports/repositories.ts';
import { lockWaitSeconds } from '../lock-wait.ts';
import { refName } from '../ref-name.ts';
import type { SandboxProgram } from './call.ts';
import { below, carryLimits, knownRepository, outlineOf } from './capture-report.ts';
import { carryOut, newCarryingCall } from './carry-out.ts';

type Report = z.infer<(typeof SANDBOX_REPORTS)['capture-late']>;
type Command = Extract<SandboxCommand, { kind: 'capture-late' }>;

const lateCommand = (request: CaptureRequest, call: string, outputBytes: number): Command => ({
  kind: 'capture-late',
  sessionId: request.sessionId,
  call,
  tag: refName(request.toolExecutionId),
  message: request.messageId ?? '-',
  reason: request.reason,
  maxFileBytes: request.maxFileBytes,
  lockWaitSeconds: lockWaitSeconds(request.timeoutMs),
  known: request.known.map((one) => knownRepository(one)),
  changes: request.changes === true,
  limits: carryLimits(request.maxInlineBytes, outputBytes),
});

const lateOutline = ({ repositories }: Report): CaptureOutline => ({
  ...outlineOf({ repositories, skipped: [] }),
  late: repositories.flatMap(({ path, late }) => late.map((one) => below(path, one))),
});

/**
 * Needs as many round trips as a capture. Throws `SandboxUnavailable` (retryable), `SandboxUnsupported`, `StorageUnavailable`,
 * or what the sandbox adapter throws.
 */
export const createLateCapture =
  (program: SandboxProgram, outputBytes: number): Repositories['capture'] =>
  async (sandbox, request, upload, hooks = {}) => {
    const { call, mark } = newCarryingCall();
    const command = lateCommand(request, call, outputBytes);
    const { carried } = await carryOut(
      {
        sandbox,
        request,
        call,
        mark,
        outputBytes,
        schema: SANDBOX_REPORTS['capture-late'],
        outlineOf: lateOutline,
        start: (where) => program.run(sandbox, command, where),
      },
      upload,
      hooks,
    );
    return carried;
  };

/** One round trip. */
export const createLateStored =
  (program: SandboxProgram): Repositories['lateStored'] =>
  async (sandbox, { sessionId, projectsRoot, toolExecutionId, timeoutMs }) => {
    await program.call(
      sandbox,
      {
        kind: 'late-stored',
        sessionId,
        tag: refName(toolExecutionId),
        lockWaitSeconds: lockWaitSeconds(timeoutMs),
      },
      SANDBOX_REPORTS['late-stored'],
      { projectsRoot, timeoutMs },
    );
  };
