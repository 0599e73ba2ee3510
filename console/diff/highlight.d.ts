/**
 * The parts of highlight.js that we use. Its own types would bring those of a browser into the whole program,
 * so `#highlight` (package.json) leads to its core with these types.
 */
export interface Emitter {
  addText(text: string): void;
  startScope(scope: string): void;
  endScope(): void;
  /** The two methods above under their older names. Both are called. */
  openNode(scope: string): void;
  closeNode(): void;
  __addSublanguage(emitter: Emitter, name: string): void;
  finalize(): void;
  toHTML(): string;
}

export type Grammar = (core: Core) => object;

export interface Core {
  registerLanguage(name: string, grammar: Grammar): void;
  getLanguage(name: string): object | undefined;
  configure(options: { __emitter: new () => Emitter }): void;
  highlight(
    code: string,
    options: { language: string; ignoreIllegals: boolean },
  ): { _emitter: Emitter; errorRaised?: Error };
  newInstance(): Core;
}

declare const core: Core;
// The module has no other export.
// oxlint-disable-next-line import/no-default-export
export default core;
