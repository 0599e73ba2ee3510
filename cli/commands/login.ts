import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { PERSON_ROLES } from '../../contract/people.ts';
import { printableLine } from '../../present/text.ts';
import { type Run, withConnection } from '../app.ts';
import type { Define } from '../commands.ts';
import { CliError } from '../failure.ts';
import type { Issuer } from '../identity/issuer.ts';
import type { Login, Logins } from '../identity/logins.ts';
import { operatorOf } from '../saga-operator.ts';
import { helpText } from '../terminal/help-text.ts';

interface Options {
  as?: string;
  role?: string[];
  token?: string;
}

const EXAMPLES = `
Examples:
  walkback login                               signs you in, and says where to confirm it
  walkback login --as rita@example.com         only the embedded cloud takes your word for it
  get-token | walkback login --token -         a token that you got elsewhere

From then on approvals, repairs and rewinds carry a proof of who you are, and the
ledger keeps it. Sagas and calls that you start are yours, so somebody else has to
approve them. A --by that names somebody else is refused. What nothing takes back can be
approved only within 15 minutes after a sign-in.`;

const parseName = (name: string): string => {
  if (name.trim() !== '') return name.trim();
  throw new CliError('InvalidInput', '--as names nobody.', { hint: 'walkback login --as rita@example.com' });
};

const issuerFor = (run: Run): Issuer => {
  if (run.issuer !== undefined) return run.issuer;
  throw new CliError('ConfigurationError', 'No issuer of tokens is named.', {
    hint: 'set WALKBACK_OIDC_ISSUER and WALKBACK_OIDC_AUDIENCE as deployed, or use the embedded cloud with --local',
  });
};

const readToken = async (run: Run, given: string): Promise<string> => {
  const token = (given === '-' ? await text(run.terminal.stdin) : given).trim();
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return token;
  throw new CliError('InvalidInput', '--token is no signed token (three parts with dots between).');
};

const loginsOf = async ({ terminal, options }: Run): Promise<Logins> => {
  const { openLogins } = await import('../identity/logins.ts');
  return openLogins(terminal, options.data);
};

const toldLogin = ({ name, expiresAt }: Login, { issuer }: Issuer) => ({ name, issuer, expiresAt });

const obtain = async (run: Run, place: Issuer, options: Options, signal: AbortSignal): Promise<string> => {
  if (options.token !== undefined) return readToken(run, options.token);
  if (place.secret === undefined && (options.as ?? options.role) !== undefined) {
    throw new CliError(
      'InvalidInput',
      '--as and --role are for the embedded cloud; here the issuer decides.',
    );
  }
  const name = options.as ?? (place.secret === undefined ? '' : operatorOf({ terminal: run.terminal }));
  const { signIn } = await import('../identity/device-flow.ts');
  return signIn(place, {
    ...(place.secret === undefined ? {} : { as: { name, roles: options.role ?? [...PERSON_ROLES] } }),
    show: ({ url, code }) =>
      run.terminal.stderr.write(`Open ${printableLine(url)} and confirm ${printableLine(code)}\n`),
    signal,
  });
};

export const defineLogin: Define = (command, app) => {
  command
    .description(
      'Sign in at the issuer of tokens, so that approvals, repairs and rewinds carry a proof of who you are.',
    )
    .addOption(
      new Option(
        '--as <name>',
        'who you are; only the embedded cloud takes your word for it (default: you)',
      ).argParser(parseName),
    )
    .addOption(new Option('--role <name...>', 'roles to have in the embedded cloud').choices(PERSON_ROLES))
    .option('--token <token>', 'a token that you got elsewhere; - reads it from standard input')
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, own: Command) =>
      withConnection(app, own, async (run) => {
        const place = issuerFor(run);
        const token = await obtain(run, place, options, app.signal);
        const login = await (await loginsOf(run)).save(place, token);
        return {
          value: toldLogin(login, place),
          text: () =>
            `Signed in as ${run.paint.bold(printableLine(login.name))} until ${login.expiresAt} (${place.issuer})\n`,
        };
      }),
    );
};

export const defineLogout: Define = (command, app) => {
  command
    .description('Forget who is signed in. The token stays valid at its issuer until it expires.')
    .action((_options: unknown, own: Command) =>
      withConnection(app, own, async (run) => {
        const place = issuerFor(run);
        const wasSignedIn = await (await loginsOf(run)).remove(place);
        return {
          value: { issuer: place.issuer, wasSignedIn },
          text: () => (wasSignedIn ? 'Signed out.\n' : 'Nobody was signed in.\n'),
        };
      }),
    );
};

export const defineWhoami: Define = (command, app) => {
  command
    .description('Say who is signed in, or which name would be claimed.')
    .action((_options: unknown, own: Command) =>
      withConnection(app, own, async (run) => {
        const place = run.issuer;
        const login = place && (await (await loginsOf(run)).find(place));
        if (place !== undefined && login !== undefined) {
          return {
            value: { ...toldLogin(login, place), verified: true },
            text: () =>
              `${printableLine(login.name)}, signed in until ${login.expiresAt} (${place.issuer})\n`,
          };
        }
        const name = operatorOf(run);
        return {
          value: { name, verified: false },
          text: () => `${printableLine(name)}, a claim: nobody is signed in (walkback login)\n`,
        };
      }),
    );
};
