import { afterAll, beforeAll } from 'vitest';
import { type ClientWorld, openClientWorld } from '../client-world.ts';

/** One cloud for all tests of a file: starting it costs more than the tests of one host. */
export const sharedWorld = (): (() => ClientWorld) => {
  let world: ClientWorld;
  beforeAll(async () => {
    world = await openClientWorld();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });
  return () => world;
};
