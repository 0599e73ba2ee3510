import type { Node } from 'constructs';

/** What an operator may choose with `cdk deploy -c walkback:<name>=<value>`; everything has a safe default. */
export interface Settings {
  /** Name of the Secrets Manager secret (plain text) that holds the E2B API key. Made by the operator, never by us. */
  e2bApiKeySecretName: string;
  /** Name of the secret (plain text) that calls of HTTP tools are signed with. Made by the operator too. */
  httpToolSecretName: string;
  /** Keeps table and bucket when somebody deletes the stack or the resource. */
  deletionProtection: boolean;
  /** Deploys the tools of the examples too. */
  examples: boolean;
}

const text = (node: Node, name: string, fallback: string): string => {
  const value: unknown = node.tryGetContext(`walkback:${name}`) ?? fallback;
  if (typeof value !== 'string' || value === '') throw new Error(`context walkback:${name} must be a text`);
  return value;
};

const flag = (node: Node, name: string, fallback: boolean): boolean => {
  const value: unknown = node.tryGetContext(`walkback:${name}`) ?? fallback;
  // `-c name=value` always gives texts; cdk.json gives booleans.
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new Error(`context walkback:${name} must be true or false`);
};

export const readSettings = (node: Node): Settings => ({
  e2bApiKeySecretName: text(node, 'e2bApiKeySecretName', 'walkback/e2b-api-key'),
  httpToolSecretName: text(node, 'httpToolSecretName', 'walkback/http-tool'),
  deletionProtection: flag(node, 'deletionProtection', true),
  examples: flag(node, 'examples', false),
});
