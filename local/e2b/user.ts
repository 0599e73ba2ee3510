/** Checks the user that a request names. All users of a local sandbox are the user who runs this process. */
import { userName } from '../../kit/machine-user.ts';
import { ConnectFailure } from './connect-rpc.ts';

const isUser = (name: string): boolean => name === 'user' || name === 'root' || name === userName();

/** Throws `unauthenticated` for a name that is no user of a sandbox. */
export const checkUser = (request: Request): void => {
  const named = new URL(request.url).searchParams.get('username');
  if (named !== null && !isUser(named))
    throw new ConnectFailure(
      'unauthenticated',
      `error looking up user '${named}': user: unknown user ${named}`,
    );
  const basic = /^Basic (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  if (basic === undefined) return;
  const [name = ''] = Buffer.from(basic, 'base64').toString().split(':');
  if (!isUser(name)) throw new ConnectFailure('unauthenticated', `invalid username: '${name}'`);
};
