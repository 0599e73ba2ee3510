/** The part of the composition root that cleans directories of this machine: for the embedded cloud. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createSessionStore } from '../adapters/aws/sessions/session-store.ts';
import { createLeftovers } from '../adapters/git/leftovers.ts';
import { readProgramBuild } from '../adapters/git/program/build.ts';
import { createSandboxProgram } from '../adapters/git/program/call.ts';
import { type CleanDirectoryDeps, createCleanDirectory } from '../core/checkpoint/session/clean-directory.ts';

/** `sessions`: the table of the cloud that is deleted; absent where its tables are gone. */
export const cleanDirectoryHere = (
  here: CleanDirectoryDeps['here'],
  sessions: { tableName: string; client: DynamoDBClient } | undefined,
) =>
  createCleanDirectory({
    store: sessions === undefined ? { getSession: async () => undefined } : createSessionStore(sessions),
    here,
    leftovers: createLeftovers(createSandboxProgram(readProgramBuild(), true)),
  });
