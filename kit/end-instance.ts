/**
 * Lambda freezes a process between two invocations and thaws what was under way in it together with the next one. So a
 * call that did not stop at its deadline is ended with its process: the engine sees an outcome that is not known, and the
 * next invocation gets a fresh process (S3).
 */
export const endLambdaInstance = (): void => {
  // Set by the service, in no other place: a server of several calls is not ended for one of them.
  if (process.env['AWS_LAMBDA_RUNTIME_API'] === undefined) return;
  process.stderr.write('A tool was still at work at its deadline; it must stop when its signal aborts.\n');
  process.exit(1);
};
