/** The part of the composition root that lets a repeated request join the one under way. */
import { createKeptCalls } from '../adapters/aws/kept-calls.ts';
import { createJoinCall } from '../core/checkpoint/workspace/join-call.ts';
import { type Runtime, required } from './runtime.ts';

export const joinCall = (runtime: Runtime): ReturnType<typeof createJoinCall> =>
  createJoinCall({
    ...runtime,
    calls: createKeptCalls({ tableName: required(runtime.env, 'WALKBACK_SESSIONS_TABLE') }),
  });
