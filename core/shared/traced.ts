/**
 * Whether calls in this process may be traced: in Lambda, which decides it for each function, unless
 * `POWERTOOLS_TRACE_ENABLED=false` turns it off.
 */
export const mayBeTraced = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env['AWS_LAMBDA_FUNCTION_NAME'] !== undefined && env['POWERTOOLS_TRACE_ENABLED'] !== 'false';
