/** Tells functions whose tokens prove who a person is. */
import { Annotations } from 'aws-cdk-lib';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { WalkbackFunction } from './walkback-function.ts';

/** An OIDC issuer: Cognito, IAM Identity Center, Okta, Entra and others. */
export interface IdentityProps {
  /** Exactly as in the `iss` claim; an https address. */
  issuer: string;
  /**
   * A value of the `aud` claim, or the `client_id` of Cognito's access tokens. Not that of another
   * application.
   */
  audience: string;
  /** A value of the `scope` claim. Default `walkback/act`. */
  scope?: string;
  /**
   * Prefix of a role's name in the names of groups. Default `walkback-`: `walkback-reviewer`,
   * `walkback-operator`.
   */
  groupPrefix?: string;
  /** The console's client id at the issuer. Default: the audience, as with Cognito. */
  clientId?: string;
  /** The console's client secret, as plain text. Default: none, for a public client that only PKCE protects. */
  clientSecret?: ISecret;
}

interface Given {
  identity?: IdentityProps;
  requireVerifiedApprover?: boolean;
}

const requiresProof = ({ identity, requireVerifiedApprover }: Given): boolean =>
  requireVerifiedApprover ?? identity !== undefined;

const check = ({ identity, requireVerifiedApprover }: Given): void => {
  if (identity === undefined) {
    if (requireVerifiedApprover !== true) return;
    throw new Error(
      'requireVerifiedApprover: nobody could approve anything, for no identity (oidcIssuer) is given',
    );
  }
  if (!identity.issuer.startsWith('https://')) throw new Error('identity.issuer must be an https address');
};

export const bindIdentity = ({ fn }: WalkbackFunction, given: Given): void => {
  const { identity } = given;
  fn.addEnvironment('WALKBACK_REQUIRE_VERIFIED_APPROVER', String(requiresProof(given)));
  if (identity === undefined) return;
  fn.addEnvironment('WALKBACK_OIDC_ISSUER', identity.issuer);
  fn.addEnvironment('WALKBACK_OIDC_AUDIENCE', identity.audience);
  fn.addEnvironment('WALKBACK_OIDC_SCOPE', identity.scope ?? 'walkback/act');
  fn.addEnvironment('WALKBACK_OIDC_GROUP_PREFIX', identity.groupPrefix ?? 'walkback-');
};

/** Throws when nobody could ever approve. */
export const warnOfClaims = (scope: Construct, given: Given): void => {
  check(given);
  if (requiresProof(given)) return;
  Annotations.of(scope).addWarningV2(
    'walkback:identity',
    'Approvals are claims: whoever may call the function may say to be anybody. Set identity (oidcIssuer, oidcAudience) to where people sign in.',
  );
};
