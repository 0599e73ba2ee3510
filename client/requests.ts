/** What each function takes and answers, as types. They derive from contract/; nothing here is loaded at run time. */
import type { AnswerOf } from '../contract/functions.ts';
import type { RequestOf } from '../contract/invoke.ts';
import type { RewindRequest } from '../contract/rewind.ts';
import type { ClientFunction } from './timeouts.ts';

/** Exactly one of these members. */
type OneOf<Given, Names extends keyof Given> = Omit<Given, Names> &
  {
    [Name in Names]: Required<Pick<Given, Name>> & { [Other in Exclude<Names, Name>]?: never };
  }[Names];

type Operation = RequestOf<'operate-saga'>;
/** The fields that an action needs beside the saga, as the schema's descriptions say. */
type Needs<Action extends Operation['action'], Names extends keyof Operation> = Omit<
  Operation,
  'action' | Names
> &
  Required<Pick<Operation, Names>> & { action: Action };

/** Where a schema has a rule between fields, the type has the same rule. */
interface Ruled {
  rollback: Omit<RequestOf<'rollback'>, 'messageId' | 'checkpointId'> &
    ({ messageId: string; checkpointId?: string } | { messageId?: never; checkpointId: string });
  'verify-commitments': RequestOf<'verify-commitments'> &
    ({ messageId?: string; checkpointId?: never } | { messageId?: never; checkpointId?: string });
  preflight: OneOf<RequestOf<'preflight'>, 'sandboxId' | 'template'>;
  rehydrate: RequestOf<'rehydrate'> &
    ({ messageId?: string; checkpointId?: never } | { messageId?: never; checkpointId?: string });
  'start-saga': OneOf<RequestOf<'start-saga'>, 'definition' | 'plan' | 'interactive'>;
  'operate-saga':
    | Answered<Needs<'cancel' | 'retry' | 'undo' | 'resume', never>>
    | Answered<Needs<'resolve' | 'skip', 'stepId' | 'evidence'>>
    | Answered<Needs<'break-lock', 'resourceKey' | 'evidence'>>;
  rewind: Answered<RewindRequest['saga']> | Answered<RewindRequest['session']>;
}

/** Who is responsible for the request: a claimed name, or a proof. */
export type Asker = { by: string; proof?: never } | { by?: never; proof: string };

type Answered<Given> = Given extends { proof?: string | undefined }
  ? Omit<Given, 'by' | 'proof'> & Asker
  : Given;

/** What a saga or a session is asked to rewind, without its own id. */
export type RewindOf<Given> = Omit<Given, 'sagaId' | 'sessionId' | 'requestId' | 'by' | 'proof'> &
  Asker & {
    /** The same id again is the same rewind. Default: a new one. */
    requestId?: string;
  };

/** A request as a caller writes it. */
export type Request<Name extends ClientFunction> = Name extends keyof Ruled
  ? Ruled[Name]
  : Name extends 'answer'
    ? Answered<RequestOf<Name>>
    : RequestOf<Name>;

/** What a function answers. */
export type Answer<Name extends ClientFunction> = AnswerOf<Name>;
