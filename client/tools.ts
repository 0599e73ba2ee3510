/** Single calls of tools, and the catalog. */
import type { RequestOf } from '../contract/invoke.ts';
import { requireFields, requireOnly } from './given.ts';
import { freshId } from './ids.ts';
import type { CallOptions, Invoke } from './invoke.ts';
import type { Answer, Request } from './requests.ts';
import type { Run } from './run.ts';
import type { SomeOf } from './session.ts';

export type CallToolOptions = Omit<RequestOf<'call-tool'>, 'requestId' | 'requestedBy'> & {
  /** The same id again, with the same call, is the same call. Default: a new one. */
  requestId?: string;
  /** Who asks for it. Default `agent`. */
  requestedBy?: string;
  /** The turn whose work it is. */
  run?: Pick<Run, 'sessionId' | 'messageId'>;
};

export interface Tools {
  /** Calls one tool as a saga of one step. It is never done twice, and can be undone. */
  call(options: CallToolOptions, call?: CallOptions): Promise<Answer<'call-tool'>>;
  /** What is in the catalog. */
  list(call?: CallOptions): Promise<Answer<'list-catalog'>>;
  /** Stores tools and templates. A stored version never changes. */
  put(catalog: SomeOf<Partial<Request<'put-catalog'>>>, call?: CallOptions): Promise<Answer<'put-catalog'>>;
}

export const createTools = (invoke: Invoke): Tools => ({
  call: async (given, call) => {
    requireFields('tools.call', given, { tool: 'text', 'run?': 'object' });
    const { run, requestId = freshId('call'), requestedBy = 'agent', ...options } = given;
    const place = run === undefined ? {} : { sessionId: run.sessionId, messageId: run.messageId };
    return invoke('call-tool', { ...place, ...options, requestId, requestedBy }, call);
  },
  list: (call) => invoke('list-catalog', {}, call),
  put: async (catalog, call) => {
    requireOnly('tools.put', catalog, { 'tools?': 'list', 'definitions?': 'list' });
    const { tools = [], definitions = [] } = catalog;
    return invoke('put-catalog', { tools, definitions }, call);
  },
});
