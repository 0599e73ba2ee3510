/** The plugin's script, as Claude Code runs it. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ClientWorld } from '../client-world.ts';

const SCRIPT = join(import.meta.dirname, '../../../integrations/claude-code/hooks/ask.sh');

export interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the script for one hook. `input`: an object is what the host says beside its usual fields. */
export const scriptOf =
  (world: () => ClientWorld, script: string = SCRIPT) =>
  async (
    event: string,
    input: object | string,
    env: Record<string, string | undefined> = {},
  ): Promise<Said> => {
    const child = spawn('bash', [script, event], {
      env: {
        PATH: process.env['PATH'],
        HOME: '/nonexistent',
        CLAUDE_PROJECT_DIR: world().root,
        WALKBACK_DATA: world().cloud.dataDir,
        WALKBACK_COMMAND: '/nonexistent/walkback',
        // A proxy must not see the token.
        http_proxy: 'http://127.0.0.1:9',
        ...env,
      },
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(
      typeof input === 'string'
        ? input
        : JSON.stringify({ session_id: 'one', hook_event_name: event, ...input }),
    );
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.on('close', resolve)),
    ]);
    return { code, stdout, stderr };
  };
