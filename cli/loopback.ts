const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];
const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/**
 * Adds the loopback of this machine to the addresses that need no proxy. With NODE_USE_ENV_PROXY, `fetch` would
 * otherwise send requests for 127.0.0.1 to the proxy.
 */
export const keepLoopbackDirect = (env: NodeJS.ProcessEnv): void => {
  if (!PROXIES.some((name) => env[name])) return;
  const named = [env['no_proxy'], env['NO_PROXY']].find(Boolean) ?? '';
  // For all hosts. `fetch` takes it only when it stands alone.
  if (named.trim() === '*') return;
  const direct = [...named.split(/[,\s]+/), ...LOOPBACK].filter((host) => host !== '').join();
  env['no_proxy'] = direct;
  env['NO_PROXY'] = direct;
};
