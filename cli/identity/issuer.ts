/** Where people sign in, according to the environment of the functions. */
export interface Issuer {
  issuer: string;
  /** Address of the configuration document. */
  configuration: string;
  clientId: string;
  scope: string;
  /** Signs anybody in. Only the embedded cloud has it. */
  secret?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined when no issuer is named. */
export const issuerOf = (env: Environment): Issuer | undefined => {
  const issuer = env['WALKBACK_OIDC_ISSUER'];
  if (issuer === undefined || issuer === '') return undefined;
  const secret = env['WALKBACK_LOGIN_SECRET'];
  return {
    issuer,
    configuration:
      env['WALKBACK_OIDC_CONFIGURATION'] ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    clientId: env['WALKBACK_OIDC_CLIENT_ID'] ?? env['WALKBACK_OIDC_AUDIENCE'] ?? 'walkback',
    scope: env['WALKBACK_OIDC_SCOPE'] ?? 'walkback/act',
    ...(secret === undefined ? {} : { secret }),
  };
};
