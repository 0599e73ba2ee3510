/** What the command says about itself, although a command's module is loaded only when it runs. */
import { expect, test } from 'vitest';
import { COMMAND_GROUPS } from '../../cli/commands.ts';
import { runCommand } from '../support/recording-app.ts';

const rows = COMMAND_GROUPS.flatMap(({ commands }) => commands);

test('help lists every command below its heading', async () => {
  const { stdout, failure } = await runCommand(['--help']);
  expect(failure).toMatchObject({ exitCode: 0 });
  let after = 0;
  for (const { heading, commands } of COMMAND_GROUPS) {
    const at = stdout.indexOf(`\n${heading}\n`, after);
    expect(at, heading).toBeGreaterThanOrEqual(after);
    after = at;
    for (const { name, summary } of commands) {
      const line = stdout.indexOf(`\n  ${name} `, after);
      expect(line, name).toBeGreaterThan(after);
      expect(stdout.slice(line).replaceAll(/\s+/g, ' ')).toContain(`${name} ${summary}`);
      after = line;
    }
  }
});

test.each(rows.map(({ name }) => name))(
  'the help of %s is the same whichever way it is asked for',
  async (name) => {
    const asked = await runCommand([name, '--help']);
    expect(asked.failure).toMatchObject({ exitCode: 0 });
    expect(asked.stdout).toMatch(new RegExp(`^Usage: walkback ${name}`));
    expect(asked.stdout.indexOf('\nOptions:\n')).toBeGreaterThan(0);
    expect((await runCommand(['help', name])).stdout).toBe(asked.stdout);
  },
);

test('help reaches the commands of a command', async () => {
  const { stdout } = await runCommand(['help', 'saga', 'start']);
  expect(stdout).toMatch(/^Usage: walkback saga start /);
  expect((await runCommand(['help', 'bogus'])).failure).toMatchObject({
    name: 'InvalidInput',
    message: "unknown command 'bogus'",
  });
});
