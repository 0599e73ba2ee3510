/**
 * The program of the sandbox with the parts that its committed build does not have yet (`sandbox/next`), built by cargo when a
 * test first asks for it.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { callText } from '../../adapters/git/program/command.ts';
import type { ComposingProgram } from '../../adapters/git/program/compose.ts';
import { hasCargo, NEXT_CRATE } from '../../build/sandbox-program.ts';
import { composeCall } from '../../contract/sandbox/compose.ts';

/** Whether it can be built here. Otherwise the tests that compare it are shown as skipped. */
export const canBuildNext = hasCargo;

let built: string | undefined;

/** Where it lies. Cargo builds it only when its sources changed; the first time takes minutes. */
const builtProgram = (): string => {
  if (built === undefined) {
    const stdio = ['ignore', 'ignore', 'inherit'] as const;
    execFileSync('cargo', ['build', '--locked', '--quiet'], { cwd: NEXT_CRATE, stdio: [...stdio] });
    built = join(
      process.env['CARGO_TARGET_DIR'] ?? join(NEXT_CRATE, 'target'),
      'debug/walkback-sandbox-next',
    );
  }
  return built;
};

/** A hook of tests that call it. */
export const BUILT = [() => void builtProgram(), 900_000] as const;

export const nextProgram = (): ComposingProgram => {
  let calls = 0;
  return {
    run: async (sandbox, command, { projectsRoot, timeoutMs, mark, ...lines }) => {
      const local = builtProgram();
      const name = `.agent-shadow/in/next-${process.pid}-${(calls += 1)}`;
      const data = JSON.stringify(composeCall.parse({ mark, timeoutMs, command }));
      await sandbox.writeFiles([{ path: `${projectsRoot}/${name}`, data }]);
      const nowhere = { digests: { x86_64: 'none', aarch64: 'none' } };
      const text = callText({ mark, build: nowhere, local, request: { file: name } });
      return sandbox.run(text, { cwd: projectsRoot, timeoutMs, ...lines });
    },
  };
};
