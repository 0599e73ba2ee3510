/** The part of the composition root that signs people in and serves them pages. */

import type { Hono } from 'hono';
import { compress } from 'hono/compress';
import { createSecret } from '../adapters/aws/secret.ts';
import { createSignOuts } from '../adapters/aws/sign-outs.ts';
import { createSignIn } from '../adapters/oidc/sign-in.ts';
import { createPages } from '../console/app.ts';
import type { ConsoleEnv } from '../console/gate.ts';
import { createSignInGate } from '../console/sign-in/gate.ts';
import { createSeal } from '../console/sign-in/seal.ts';
import { errorRow } from '../contract/errors.ts';
import { API_PATIENCE_SECONDS } from '../contract/http-api.ts';
import type { SignIn } from '../core/people/sign-in.ts';
import { isWalkbackError } from '../core/shared/errors.ts';
import { personCalls } from './people-runtime.ts';
import { optional, type Runtime, required } from './runtime.ts';

/** If the client has a secret, it is read at the first sign-in. */
const signInOf = ({ env }: Runtime): SignIn => {
  const configuration = optional(env, 'WALKBACK_OIDC_CONFIGURATION');
  const secretArn = optional(env, 'WALKBACK_CONSOLE_CLIENT_SECRET_ARN');
  const options = {
    issuer: required(env, 'WALKBACK_OIDC_ISSUER'),
    audience: required(env, 'WALKBACK_OIDC_AUDIENCE'),
    scope: required(env, 'WALKBACK_OIDC_SCOPE'),
    clientId: required(env, 'WALKBACK_CONSOLE_CLIENT_ID'),
    ...(configuration === undefined ? {} : { configuration }),
  };
  if (secretArn === undefined) return createSignIn(options);
  const clientSecret = createSecret(secretArn);
  let made: { secret: string; signIn: SignIn } | undefined;
  const current = async (): Promise<SignIn> => {
    const secret = await clientSecret();
    if (made?.secret !== secret)
      made = { secret, signIn: createSignIn({ ...options, clientSecret: secret }) };
    return made.signIn;
  };
  return {
    begin: async (request) => (await current()).begin(request),
    finish: async (answer, begun) => (await current()).finish(answer, begun),
  };
};

export const createConsoleApp = (runtime: Runtime): Hono<ConsoleEnv> => {
  const failureOf = (error: unknown) => {
    if (!isWalkbackError(error) || errorRow(error.name)?.kind === 'fault') {
      runtime.log.warn('a page failed', { error });
    }
    return isWalkbackError(error)
      ? { name: error.name, message: error.message }
      : { name: 'InternalError', message: 'Something went wrong inside Walkback. Load the page again.' };
  };
  const gate = createSignInGate({
    signIn: signInOf(runtime),
    calls: personCalls(runtime),
    signOuts: createSignOuts({ tableName: required(runtime.env, 'WALKBACK_SESSIONS_TABLE') }),
    seal: createSeal({ secret: createSecret(required(runtime.env, 'WALKBACK_CONSOLE_SECRET_ARN')) }),
  });
  // Work after the answer may stop with this instance, and no other instance knows of it. So it is waited
  // for.
  const patienceMs = (API_PATIENCE_SECONDS + 1) * 1000;
  return createPages({ gate, failureOf, patienceMs, isOneProcess: false, around: compress() });
};
