/**
 * Lambda freezes a process between two invocations, and its pending work goes on in the next one. So a call
 * that did not stop at its deadline is ended together with its process. The engine sees an unknown outcome,
 * and the next invocation gets a fresh process (S3).
 */
export const endLambdaInstance = (): void => {
  // Only Lambda sets this variable. A server that runs several calls is not ended because of one.
  if (process.env['AWS_LAMBDA_RUNTIME_API'] === undefined) return;
  process.stderr.write('A tool was still at work at its deadline; it must stop when its signal aborts.\n');
  process.exit(1);
};
