/** No object without an item that expires: what was uploaded and never named is found and deleted. */
import { describe, expect, test } from 'vitest';
import type { CapturedBundle } from '../../core/checkpoint/ports/capture.ts';
import { createPublishSessionChanges } from '../../core/checkpoint/session/publish-session-changes.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { createNewStage, createWorkingStage, SESSION, type Stage } from '../support/fakes/stage.ts';

const DAY_MS = 86_400_000;

/** What the table's TTL and its stream do as time goes by. */
const expire = async (stage: Stage): Promise<void> => {
  const { store, bucket, clock } = stage;
  const log = { info: () => undefined, warn: () => undefined };
  const publish = createPublishSessionChanges({
    store,
    bundles: bucket,
    events: { publish: async () => undefined },
    log,
  });
  const uploads = [...store.tables.uploads];
  for (const [name, upload] of uploads) {
    if (upload.expiresAt * 1000 > clock.now().getTime()) continue;
    store.tables.uploads.delete(name);
    await publish([{ id: name, before: { kind: 'upload', upload } }]);
  }
};

/** A sandbox that sends everything by presigned uploads, and says `lie` of it. */
const uploading = (stage: Stage, lie: (bundle: CapturedBundle) => Partial<CapturedBundle>): void => {
  const capture = stage.world.repositories.capture.bind(stage.world.repositories);
  stage.world.repositories.capture = async (sandbox, request, upload) => {
    const report = await capture(sandbox, request, upload);
    for (const bundle of report.bundles) {
      const { bytes } = bundle;
      if (bytes === undefined) continue;
      const place = await upload({ ...bundle, bytes: undefined });
      if (place !== null) stage.bucket.send(place.url, place.headers, bytes);
      Object.assign(bundle, { bytes: undefined }, lie(bundle));
    }
    return report;
  };
};

describe('uploads', () => {
  test('an object that nothing names is deleted when its upload expires, and one that is named stays', async () => {
    const stage = createNewStage();
    await stage.instance().startSession();
    stage.edit('api', { 'a.txt': 'honest' });
    uploading(stage, () => ({}));
    const honest = await stage.instance().checkpoint('m1', 't1');
    expect(honest.complete).toBe(true);
    const named = [...stage.bucket.objects.keys()].toSorted();

    stage.edit('api', { 'a.txt': 'sent, but called another commit' });
    const honestCapture = stage.world.beforeAnswer;
    // What arrives is whole, but holds another commit than the capture names.
    stage.world.beforeAnswer = (report) => ({
      ...report,
      bundles: report.bundles.map((bundle) => ({ ...bundle, commit: 'f'.repeat(40) })),
      repositories: report.repositories.map((one) =>
        one.state === 'captured' && one.changed ? { ...one, commit: 'f'.repeat(40) } : one,
      ),
    });
    expect((await stage.instance().checkpoint('m2', 't2')).complete).toBe(false);
    stage.world.beforeAnswer = honestCapture;
    expect(stage.bucket.objects.size).toBe(named.length + 1);

    stage.passMs(2 * DAY_MS);
    await expire(stage);
    expect(stage.bucket.objects.size).toBe(named.length + 1);
    stage.passMs(2 * DAY_MS);
    await expire(stage);
    // That of the object of the first checkpoint's links lives longer than these.
    expect([...stage.store.tables.uploads.values()].map(({ place }) => place)).toEqual([
      { linksOf: SESSION },
    ]);
    expect([...stage.bucket.objects.keys()].toSorted()).toEqual(named);
  });

  test('the item is there before the URL is given away', async () => {
    const stage = await createWorkingStage();
    const seen: boolean[] = [];
    const presign = stage.bucket.presignPut.bind(stage.bucket);
    stage.bucket.presignPut = (bundle, seconds) => {
      seen.push(stage.store.tables.uploads.has(bundle.key));
      return presign(bundle, seconds);
    };
    uploading(stage, () => ({}));
    await stage.instance().checkpoint('m3', 't3');
    expect(seen).toEqual([true]);
  });

  test('an object that is there is sent again when its item is about to expire', async () => {
    const stage = await createWorkingStage();
    const urls: string[] = [];
    const presign = stage.bucket.presignPut.bind(stage.bucket);
    stage.bucket.presignPut = (bundle, seconds) => {
      urls.push(bundle.key);
      return presign(bundle, seconds);
    };
    const offered: (string | undefined)[] = [];
    const capture = stage.world.repositories.capture.bind(stage.world.repositories);
    stage.world.repositories.capture = async (sandbox, request, upload) => {
      const report = await capture(sandbox, request, upload);
      const [bundle] = report.bundles;
      if (bundle?.bytes === undefined) throw new Error('nothing changed');
      const offer = async () => {
        const place = await upload({ ...bundle, bytes: undefined });
        if (place !== null) stage.bucket.send(place.url, place.headers, bundle.bytes ?? Buffer.of());
        offered.push(place?.url);
      };
      await offer();
      await offer();
      stage.passMs(2.5 * DAY_MS);
      await offer();
      return report;
    };
    await stage.instance().checkpoint('m3', 't3');
    expect(offered.map((url) => url !== undefined)).toEqual([true, false, true]);
    expect(new Set(urls.map((key) => sha256Hex(key))).size).toBe(1);
  });
});
