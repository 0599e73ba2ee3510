/** Takes the data directories that it is told, one after the other, and says whether they are its own. */
import { lockDataDir } from '../../local/data-dir.ts';

const answerTo = async (dataDir: string): Promise<string> =>
  lockDataDir(dataDir, '1.2.3').then(
    () => 'owner',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

process.on('message', (dataDir: string) => {
  void answerTo(dataDir).then((answer) => process.send?.(answer));
});
process.send?.('ready');
