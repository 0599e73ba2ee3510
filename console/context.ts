/** What every page is given. Pages hold no logic: they show what the functions answer. */
import type { AnswerOf, CallableName } from '../contract/functions.ts';
import type { RequestOf } from '../contract/invoke.ts';
import type { Page, Viewer } from './parts/page.ts';

/** Calls a function as the person who looks at the page. */
export type Ask = <Name extends CallableName>(name: Name, input: RequestOf<Name>) => Promise<AnswerOf<Name>>;

/** The directory of this machine that a path in a sandbox is; undefined where none is known. */
export type DirectoryOf = (sandboxId: string, path: string) => Promise<string | undefined>;

export interface Visit {
  ask: Ask;
  viewer: Viewer;
  /** Who acts, for requests that people answer for; a proof takes its place where there is one. */
  by: string;
  /** Goes into every form. */
  formToken: string;
  now: () => Date;
  directoryOf: DirectoryOf;
  /** Of an error of `ask`: there is no such thing. */
  isNotFound: (error: unknown) => boolean;
  /** Of an error of `ask`: what it says when what is stored of a saga is not what was written. */
  brokenBy: (error: unknown) => string | undefined;
  /** Of an error of `ask`: somebody else moved what was decided on. */
  isStale: (error: unknown) => boolean;
  /** Of an error of `ask`: that, or somebody else is about to. */
  isOvertaken: (error: unknown) => boolean;
  /** Whoever looks may not call that. The function has decided, not the page. */
  isForbidden: (error: unknown) => boolean;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The same question under this id is joined, whichever instance is asked. */
  request?: string;
}

/** A form that was sent, with its fields. */
interface Sent extends Visit {
  fields: Readonly<Record<string, string>>;
}

/** Where to go when it is done. */
export interface Elsewhere {
  location: string;
}

export type Show = (visit: Visit) => Promise<Page>;
export type Act = (sent: Sent) => Promise<Page | Elsewhere>;
