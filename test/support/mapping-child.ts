/** A process that has a file mapped and writes into the mapping when it is told to: the `-shm` of a database of SQLite. */
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(process.argv[2] ?? '');
database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (0)');
process.on('message', () => {
  database.exec('INSERT INTO t VALUES (1)');
  process.send?.('written');
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.send?.('written');
