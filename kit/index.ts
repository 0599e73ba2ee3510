/** What authors of tools import: `walkback/kit`. */
export type { SagaDefinition } from '../core/saga/model/plan.ts';
export type { Tombstones } from '../core/saga/ports.ts';
export { endpointKey } from '../core/saga/tools/http-signature.ts';
export {
  defineTool,
  type Probed,
  type Tool,
  type ToolCall,
  type ToolDefinition,
  type Undo,
  type Undone,
} from './define-tool.ts';
export { endLambdaInstance } from './end-instance.ts';
export { openFileTombstones } from './file-tombstones.ts';
export { type HandlerDependencies, toolHandler } from './handler.ts';
export { manifestOf } from './manifest.ts';
export { ToolRejected, ToolUncertain } from './outcomes.ts';
export { type GivenCall, verifySignature } from './verify-signature.ts';
