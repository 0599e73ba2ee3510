/** Who asks: a name that is only claimed, or a person that a signed token proves. */
import * as z from 'zod';
import type { Caller } from './function-row.ts';

/** In the ledger, this is Walkback itself. */
export const ENGINE = 'engine';

export const who = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((name) => name !== ENGINE, 'engine is no name for a person');

/** Tokens of the usual issuers have 1 to 2 KiB. */
const MAX_PROOF_LENGTH = 8192;

/** Fields of every request that a person answers for. */
export const asker = () => ({
  by: who.optional().describe('who asks, as a claim; not needed with proof'),
  proof: z
    .string()
    .min(1)
    .max(MAX_PROOF_LENGTH)
    .optional()
    .describe('an OIDC token of the person who asks; the function itself verifies it'),
});

/** Of what backends call too, who name nobody. */
export const askerIfPerson = () => ({
  by: who.optional().describe('the person who asks, as a claim; a backend leaves it out'),
  proof: asker().proof,
});

/** Refuses a request that nobody answers for. */
export const answeredFor = <Input extends z.ZodType<{ by?: unknown; proof?: unknown }>>(
  input: Input,
): Input =>
  input.refine(({ by, proof }) => by !== undefined || proof !== undefined, {
    path: ['by'],
    error: 'say who asks, or give a proof',
  });

/** What the groups of a person allow. */
export type Role = Exclude<Caller, 'internal'>;

/** A person whose token was verified. */
export interface Person {
  /** The issuer of the token. */
  iss: string;
  /** The person, as the issuer knows it. */
  sub: string;
  email?: string;
  /** ISO 8601, UTC: when the person last gave a password or key. Absent when the token does not say. */
  authTime?: string;
  tokenId?: string;
  /** The issuer of the embedded cloud said so, which believes whoever may use this machine. */
  dev?: true;
}

/** A person who may act now. */
export interface VerifiedActor {
  /** For people who read it: the e-mail address, else `sub`. */
  name: string;
  person: Person;
}

/** `engine`, a name that is only claimed, or a person. */
export type Actor = string | VerifiedActor;

/** A request once it is clear who asks. */
export type Asked<Input extends { by?: unknown; proof?: unknown }> = Omit<Input, 'by' | 'proof'> & {
  by: Actor;
};

/** The same where a backend may ask, which names nobody. */
export type MaybeAsked<Input extends { by?: unknown; proof?: unknown }> = Omit<Input, 'by' | 'proof'> & {
  by?: Actor | undefined;
};

/** In answers. */
export const personAnswer = () =>
  z.object({
    iss: z.string(),
    sub: z.string(),
    email: z.string().optional(),
    authTime: z.string().optional().describe('ISO 8601; when the person signed in'),
    tokenId: z.string().optional(),
    dev: z.literal(true).optional().describe('the issuer of an embedded cloud said so'),
  });

/** Who asked for something, as it is stored and answered. */
export const askedBy = () =>
  z.object({
    name: z.string(),
    person: personAnswer().optional().describe('a signed token proved it; absent: a claim'),
  });
export type AskedBy = z.infer<ReturnType<typeof askedBy>>;

export const askedByOf = (actor: Actor): AskedBy =>
  typeof actor === 'string' ? { name: actor } : { name: actor.name, person: actor.person };

/** What stands where nobody proved a name. */
export const CLAIMED = 'claimed';

/**
 * How the name in a ledger entry is proven, for people to read: issuer and subject of a verified token, or
 * `claimed`. Null for Walkback itself.
 */
export const proofOf = (name: string, person: Person | undefined): string | null => {
  if (person !== undefined) return `${person.iss} ${person.sub}`;
  return name === ENGINE ? null : CLAIMED;
};

export const nameOf = (actor: Actor): string => (typeof actor === 'string' ? actor : actor.name);

export const personOf = (actor: Actor): Person | undefined =>
  typeof actor === 'string' ? undefined : actor.person;
