/** What authors of tools import: `walkback/kit`. */
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
export { type HandlerDependencies, toolHandler } from './handler.ts';
export { manifestOf } from './manifest.ts';
export { ToolRejected, ToolUncertain } from './outcomes.ts';
export { type GivenCall, verifySignature } from './verify-signature.ts';
