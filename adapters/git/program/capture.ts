/** Captures with the program, and brings its bundles out: in the answer, as files, or by a presigned upload. */
import { SANDBOX_REPORTS } from '../../../contract/sandbox/reports.ts';
import type { CaptureRequest } from '../../../core/checkpoint/ports/capture.ts';
import type { Repositories } from '../../../core/checkpoint/ports/repositories.ts';
import type { SandboxProgram } from './call.ts';
import { captureCommand, outlineOf } from './capture-report.ts';
import { carryOut, newCarryingCall } from './carry-out.ts';

/**
 * Captures every repository below the projects root. One round trip when the bundles fit into the output, otherwise two.
 * Throws `SandboxUnavailable` (retryable), `SandboxUnsupported`, `StorageUnavailable`, or what the sandbox adapter throws.
 */
export const createCapture =
  (program: SandboxProgram, outputBytes: number): Repositories['capture'] =>
  async (sandbox, request: CaptureRequest, upload, hooks = {}) => {
    const { call, mark } = newCarryingCall();
    const command = captureCommand(request, call, outputBytes);
    const { carried } = await carryOut(
      {
        sandbox,
        request,
        call,
        mark,
        outputBytes,
        schema: SANDBOX_REPORTS.capture,
        outlineOf,
        start: (where) => program.run(sandbox, command, where),
      },
      upload,
      hooks,
    );
    return carried;
  };
