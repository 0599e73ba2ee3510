/** A real Chromium, from its npm package; it opens nothing but loopback. */
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Nothing is looked up or fetched in the background. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const startBrowser = async (): Promise<Browser | undefined> => {
  try {
    const executablePath = process.env['WALKBACK_CHROMIUM'] ?? (await chromium.executablePath());
    return await playwright.launch({ executablePath, args: QUIET, headless: true });
  } catch (error) {
    if (process.env['WALKBACK_BROWSER'] === 'required') throw error;
    return undefined;
  }
};

/**
 * For all tests of a file. It is not there where it cannot start (a library is missing, or the processor is another).
 * `WALKBACK_BROWSER=required` makes that an error.
 */
export const openBrowser = async () => {
  const browser = await startBrowser();
  return {
    isThere: browser !== undefined,
    running: (): Browser => {
      if (browser === undefined) throw new Error('no browser');
      return browser;
    },
    close: async (): Promise<void> => browser?.close(),
  };
};
