/**
 * All threads for functions of the user's in one cloud, and which thread runs which call. Each function has a
 * thread of its own, as each has its own execution environments when deployed, so a blocked function delays
 * no other. Calls of one function share its thread as long as it is not blocked; then further threads take
 * the waiting calls. A call is offered to all threads of its function, and runs in the one that takes it
 * first (claim.ts).
 */
import type { FunctionPlan } from '../plan.ts';
import { withinTimeLimit } from './invoke.ts';
import { isEdited, type LoadedFile } from './loaded-files.ts';
import { type CallFacts, createOwnCall, NotBegun, type OwnCall } from './own-call.ts';
import { type Fault, tellOwnFault } from './own-faults.ts';
import { BLOCKED_AFTER_MS, type OwnThread, startOwnThread, type Told } from './own-thread.ts';
import type { InvocationResult } from './run-handler.ts';

/** Most threads of a cloud. An idle thread is ended for a function that has none. */
const MOST = 16;
/** Most threads beyond the first of each function, so that blocked functions leave room for the others. */
const MOST_FURTHER = 8;
/** Time to load a function's module, in addition to the function's own time limit. */
const LOADING_MS = 10_000;
/**
 * A thread with no call at work that takes no call for this long is blocked by something that a call left
 * behind.
 */
const LEFT_BLOCKED_MS = 2_000;
/**
 * Less than the shortest time that a saga waits for a call, so that a call that did not begin is known not to
 * have begun.
 */
const LONGEST_WAIT_MS = 4_000;

const STOPPED: Fault = { reason: 'the embedded cloud was stopped' };
const LEFT_BLOCKED: Fault = { reason: 'what a call left behind blocks its thread, which is ended' };
const REPLACED: Fault = { reason: 'another thread took its place' };

interface Member {
  thread: OwnThread;
  fn: FunctionPlan;
  /** Version of its module. Another version gets a thread of its own. */
  version: string;
  isLoaded: boolean;
  /** The files from which its module was read. */
  files: LoadedFile[];
  /** The thread takes no further calls. */
  isRetired: boolean;
  isEnding: boolean;
  /** The calls that it took. */
  calls: Map<number, OwnCall>;
  usedMs: number;
}

export interface OwnThreads {
  /** Rejects with `NotBegun` when no thread could take the call; otherwise answers. */
  invoke(version: string, facts: CallFacts): Promise<InvocationResult>;
  /** Lets nothing begin any more, and ends the threads that are blocked. */
  drain(): Promise<void>;
  /** Ends all of them, and what runs in them. */
  close(): Promise<void>;
  /**
   * After `close`: a thread still exists, because it waits for another process, and ends only together with
   * this process.
   */
  isStuck(): boolean;
}

export const createOwnThreads = ({ most = MOST, mostFurther = MOST_FURTHER } = {}): OwnThreads => {
  const members = new Set<Member>();
  /** Calls that no thread has reported as taken. */
  const waiting = new Map<number, OwnCall>();
  /** Version of the last call of each function. */
  const versions = new Map<string, string>();
  let isClosed = false;

  const serving = (name: string): Member[] =>
    [...members].filter((one) => one.fn.name === name && !one.isRetired && !one.isEnding);
  const isIdle = ({ fn, calls, isEnding }: Member): boolean =>
    !isEnding && calls.size === 0 && ![...waiting.values()].some((call) => call.fn.name === fn.name);

  /** The calls that it had taken are answered, even when the thread cannot be ended. */
  const end = async (member: Member, fault: Fault): Promise<void> => {
    member.isEnding = true;
    await member.thread.end(fault);
    lose(member, fault);
  };

  const endIdle = (member: Member): void => {
    end(member, REPLACED).catch(() => undefined);
  };

  /** Makes room by ending the thread that has been idle longest. */
  const room = (): 'now' | 'soon' | 'none' => {
    if (members.size < most) return 'now';
    const [longest] = [...members].filter(isIdle).sort((a, b) => a.usedMs - b.usedMs);
    if (longest === undefined) return 'none';
    endIdle(longest);
    return 'soon';
  };

  const start = (fn: FunctionPlan): void => {
    const thread = startOwnThread({
      memoryMb: fn.memoryMb,
      onTold: (told) => onTold(member, told),
      onGone: (fault) => onGone(member, fault),
    });
    const member: Member = {
      thread,
      fn,
      version: versions.get(fn.name) ?? '',
      isLoaded: false,
      files: [],
      isRetired: false,
      isEnding: false,
      calls: new Map(),
      usedMs: performance.now(),
    };
    members.add(member);
  };

  /**
   * Offers the waiting calls to the existing threads, after starting a first thread for a function that has
   * none.
   */
  const place = (): void => {
    for (const call of waiting.values()) {
      if (!isClosed && serving(call.fn.name).length === 0 && room() === 'now') start(call.fn);
      for (const { thread } of serving(call.fn.name)) call.offer(thread);
    }
  };

  const tidy = (): void => {
    for (const member of members) {
      member.thread.watch(member.calls.size > 0);
      if (member.isRetired && isIdle(member)) endIdle(member);
    }
    place();
  };

  const lose = ({ thread, calls }: Member, fault: Fault): void => {
    for (const call of [...calls.values(), ...waiting.values()]) {
      if (call.holder() !== thread.number) continue;
      waiting.delete(call.id);
      call.lose(fault);
    }
    calls.clear();
  };

  const onTold = (member: Member, told: Told): void => {
    if (told.tell !== 'taken' && told.tell !== 'begun' && told.tell !== 'done') return;
    const call = waiting.get(told.id) ?? member.calls.get(told.id);
    if (call === undefined) return;
    member.usedMs = performance.now();
    switch (told.tell) {
      case 'taken':
        waiting.delete(call.id);
        member.calls.set(call.id, call);
        call.onTaken();
        break;
      case 'begun':
        member.isLoaded = true;
        member.files.push(...told.files);
        call.onBegun(told.timeoutMs);
        return;
      case 'done':
        member.calls.delete(call.id);
        member.files.push(...told.files);
        // A module that cannot start is tried again by the next call, as when deployed.
        if (!told.isLoaded) member.isRetired = true;
        if (told.fault !== undefined) tellOwnFault(call.fn, told.fault);
        call.settle(told.result);
    }
    tidy();
  };

  const onGone = (member: Member, fault: Fault): void => {
    members.delete(member);
    if (!member.isEnding) tellOwnFault(member.fn, fault);
    lose(member, fault);
    tidy();
  };

  /** Finds another thread for a call that its function's threads do not take. False: there is none. */
  const isHelped = ({ fn }: OwnCall, waitedMs: number): boolean => {
    for (const member of serving(fn.name)) {
      if (!member.isLoaded || member.calls.size > 0) continue;
      if (waitedMs < LEFT_BLOCKED_MS) return true;
      tellOwnFault(fn, LEFT_BLOCKED);
      end(member, LEFT_BLOCKED).catch(() => undefined);
    }
    const mine = serving(fn.name);
    if (mine.some(({ isLoaded }) => !isLoaded)) return true;
    const firsts = new Set([...members].map((one) => one.fn.name)).size;
    if (mine.length > 0 && members.size - firsts >= mostFurther) return false;
    const found = room();
    if (found === 'now') start(fn);
    return found !== 'none';
  };

  /** A call waits in line no longer than its caller has patience. */
  const wait = (call: OwnCall): void => {
    const sinceMs = performance.now();
    const look = (): void => {
      if (!waiting.has(call.id)) return;
      const waitedMs = performance.now() - sinceMs;
      const isOver = isClosed || waitedMs >= LONGEST_WAIT_MS;
      if (call.holder() === undefined && (isOver || !isHelped(call, waitedMs))) refuse(call);
      place();
      setTimeout(look, BLOCKED_AFTER_MS).unref();
    };
    setTimeout(look, BLOCKED_AFTER_MS).unref();
  };

  const refuse = (call: OwnCall): void => {
    if (call.refuse(isClosed ? 'the end' : 'no place')) waiting.delete(call.id);
  };

  /**
   * When the time limit is over, Lambda ends the environment. Here the thread is ended only when it is
   * blocked, because other calls may be at work in it.
   */
  const onOver = async (call: OwnCall, timeoutMs: number): Promise<void> => {
    const member = [...members].find(({ calls }) => calls.has(call.id));
    if (member === undefined) return;
    const isBlocked = member.thread.isBlocked() || !(await member.thread.turns());
    const how = isBlocked ? 'its thread is blocked, and is ended' : 'what still runs of it runs on';
    const limit = `${(timeoutMs / 1000).toFixed(2)} s`;
    tellOwnFault(call.fn, { reason: `its time limit of ${limit} is over; ${how}` });
    if (isBlocked) await end(member, { reason: `another call of it blocked its thread for ${limit}` });
  };

  return {
    invoke: async (version, facts) => {
      const { fn, requestId } = facts;
      if (isClosed) throw new NotBegun('the end', fn.name);
      const isOther = versions.get(fn.name) !== version;
      versions.set(fn.name, version);
      for (const member of serving(fn.name)) {
        if (isOther || isEdited(member.files)) member.isRetired = true;
      }
      let call: OwnCall | undefined;
      const run = (begin: (timeoutMs: number) => void): Promise<InvocationResult> => {
        call = createOwnCall({
          ...facts,
          onTaken: () => {
            begin(LOADING_MS + fn.timeoutMs);
            facts.onTaken();
          },
          onBegun: (timeoutMs) => {
            begin(timeoutMs);
            facts.onBegun(timeoutMs);
          },
        });
        waiting.set(call.id, call);
        tidy();
        wait(call);
        return call.answer;
      };
      return withinTimeLimit(requestId, run, async (timeoutMs) => {
        if (call !== undefined) await onOver(call, timeoutMs);
      });
    },
    drain: async () => {
      isClosed = true;
      for (const call of waiting.values()) refuse(call);
      await Promise.all(
        [...members].map(async (member) => {
          if (member.thread.isBlocked() || !(await member.thread.turns())) await end(member, STOPPED);
        }),
      );
    },
    close: async () => {
      isClosed = true;
      for (const call of waiting.values()) refuse(call);
      await Promise.all([...members].map((member) => end(member, STOPPED)));
    },
    isStuck: () => members.size > 0,
  };
};
