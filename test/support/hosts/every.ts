/** Every host that a test can play here. */
import type { Host } from '../integration-conformance.ts';
import { aiSdk } from './ai-sdk.ts';
import { langchain } from './langchain.ts';
import { openaiAgents } from './openai-agents.ts';

export const HOSTS: readonly Host[] = [aiSdk, openaiAgents, langchain];
