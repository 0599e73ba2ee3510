/** A session of many messages in two repositories, with a planted fault, a fork and a merge: what searches are tried on. */
import { mergeStage } from './merge-stage.ts';
import { shell, type World, type WorldCloud } from './world.ts';

export interface BrokenStory {
  world: World;
  forkId: string;
  /** Message of the fork that breaks what the web does. */
  brokenInFork: string;
  /** Message of the session that breaks what the api does. */
  broken: string;
}

/** Succeeds as long as both parts of the api add up. */
export const API_TEST =
  'test "$(bash api/sum.sh 2 3)" = 5 || { echo "2 + 3 is $(bash api/sum.sh 2 3)"; exit 1; }';
/** Of the web, in its repository. */
export const WEB_TEST = 'grep -q "^greeting=hello" page.txt || { echo "no greeting"; cat page.txt; exit 3; }';

const GOOD_SUM = 'echo $(( $1 + $2 ))';
const BAD_SUM = 'echo $(( $1 - $2 ))';

/** `messages`: of the session, at least 20. Some change one repository, some another file, some nothing. */
export const playBrokenStory = async (cloud: WorldCloud, messages: number): Promise<BrokenStory> => {
  const stage = mergeStage(cloud);
  const world = await stage.open();
  const broken = Math.floor(messages * 0.7);
  const forkAt = Math.floor(messages / 4);
  const mergeAt = Math.floor(messages / 2);
  let fork: Awaited<ReturnType<typeof stage.forkOf>> | undefined;

  const work = async (n: number): Promise<void> => {
    const lines = [
      `echo "line ${n}" >> api/notes.txt`,
      n % 3 === 0 ? `echo "message ${n}" >> web/log.txt` : '',
      n % 5 === 0 ? `git -C api add notes.txt; git -C api commit -qm "message ${n}"` : '',
      n === 1 ? `echo '${GOOD_SUM}' > api/sum.sh; echo 'greeting=hello' > web/page.txt` : '',
      n === broken ? `echo '${BAD_SUM}' > api/sum.sh` : '',
    ];
    // Every seventh message only looks.
    if (n % 7 !== 0 || n === broken) shell(world.root, lines.filter((line) => line !== '').join('\n'));
    await world.checkpoint(`t${n}`, `m${n}`, {
      message: { role: 'user', title: `Message number ${n}` },
    });
  };

  for (let n = 1; n <= messages; n++) {
    await work(n);
    if (n === forkAt) {
      fork = await stage.forkOf(world);
      for (let inFork = 1; inFork <= 4; inFork++) {
        shell(fork.root, `echo "fork ${inFork}" >> web/fork.txt`);
        if (inFork === 3) shell(fork.root, `echo 'greeting=goodbye' > web/page.txt`);
        await fork.checkpoint(`f${inFork}`);
      }
    }
    if (n === mergeAt && fork !== undefined) await stage.merge(fork, world, 'merge');
  }
  if (fork === undefined) throw new Error('the story has no fork');
  return { world, forkId: fork.sessionId, brokenInFork: 'f3', broken: `m${broken}` };
};
