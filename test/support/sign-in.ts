/** Tokens of people, from the issuer of an embedded cloud. */
import { signIn } from '../../cli/identity/device-flow.ts';
import { type Issuer, issuerOf } from '../../cli/identity/issuer.ts';
import type { TestCloud } from './cloud.ts';

export const issuerIn = ({ environment }: Pick<TestCloud, 'environment'>): Issuer => {
  const issuer = issuerOf(environment);
  if (issuer === undefined) throw new Error('the cloud names no issuer');
  return issuer;
};

export const tokenFrom = (issuer: Issuer, name: string, roles: string[] = ['reviewer', 'operator']) =>
  signIn(issuer, { as: { name, roles }, show: () => undefined, signal: AbortSignal.timeout(60_000) });
