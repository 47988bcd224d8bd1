import type { ImageOutcome, ImageStreamKind, InputImage, StreamAnswer } from '#upstream/outcomes.js';
import { instantPng } from '../images.js';
import { type Bench, CALL_MS, type CaseOf, fileText, promptOf } from './bench.fixture.js';
import { failureText } from './outcome-text.fixture.js';
import { SseSplitter } from '#upstream/sse-splitter.js';
import { UsageMeter } from '#upstream/usage-meter.js';

/** Faults in files need separate files. */
const byAddress: readonly string[] = ['bad-file', 'expired', 'late-file'];

/** Makes two images, from a prompt or from an image. */
export async function imageCase(bench: Bench, each: CaseOf): Promise<string> {
  if (each.happens === 'proxy-502') return proxyText(bench, each);
  const outcome = await ask(bench, each);
  if (outcome.kind !== 'delivered') {
    return failureText(outcome) + (each.happens === 'two-keys' ? bench.keyText(each) : '');
  }
  if (each.happens === 'expired') bench.letFilesExpire();
  const mimes = await fileText(async () => {
    const read = outcome.images.map((image) =>
      bench.upstreams.fetchImage(bench.channel(each), image, AbortSignal.timeout(CALL_MS)),
    );
    return [...new Set((await Promise.all(read)).map(({ mime }) => mime))].join();
  });
  const count = outcome.images.length;
  return mimes === 'not downloadable' ? `delivered ${count}, ${mimes}` : `delivered ${count} ${mimes}`;
}

/** A proxy's error ends a call, but a task behind it may still be running. Only the vendor knows. */
async function proxyText(bench: Bench, each: CaseOf): Promise<string> {
  const polls = () => bench.statistic('polls');
  const before = await polls();
  await ask(bench, { ...each, happens: 'nothing' });
  const isTask = (await polls()) > before;
  const outcome = await ask(bench, each);
  const isSafe = outcome.kind === (isTask ? 'unknown' : 'not_accepted');
  return isSafe ? 'another channel, unless a task was asked for' : `${outcome.kind} for a task: ${isTask}`;
}

async function ask(bench: Bench, each: CaseOf): Promise<ImageOutcome> {
  const request = {
    model: bench.model(each),
    prompt: promptOf(each),
    n: 2,
    aspectRatio: '1:1',
    responseFormat: byAddress.includes(each.happens) ? ('url' as const) : ('b64_json' as const),
  };
  const signal = await bench.signal(each);
  const adapter = bench.adapter(each);
  if (each.operation === 'images') return adapter.generateImages(bench.channel(each), request, signal);
  const [image, mask] = [imageNamed('in.png'), imageNamed('mask.png')];
  const edit = { ...request, images: [image], ...(each.operation === 'maskedEdits' && { mask }) };
  return adapter.editImages(bench.channel(each), edit, signal);
}

function imageNamed(name: string): InputImage {
  return { bytes: instantPng, mime: 'image/png', name };
}

/** Makes an image as a stream of events, and meters it for billing. */
export async function imageEventsCase(bench: Bench, each: CaseOf): Promise<string> {
  const kind = each.operation as ImageStreamKind;
  const request = {
    kind,
    model: bench.model(each),
    body: { prompt: promptOf(each), n: 1, size: '64x64', stream: true, partial_images: 2 },
    ...(kind === 'editStream' && { pictures: { images: [imageNamed('in.png')] } }),
  };
  const signal = await bench.signal(each);
  const outcome = await bench.adapter(each).openStream(bench.channel(each), request, signal);
  if (outcome.kind !== 'answer') {
    return failureText(outcome) + (each.happens === 'two-keys' ? bench.keyText(each) : '');
  }
  const [type = ''] = outcome.contentType.split(';');
  if (type === 'text/event-stream') return eventsText(outcome, new UsageMeter(kind));
  outcome.body.destroy();
  return `${type} for a stream`;
}

async function eventsText({ body }: StreamAnswer, meter: UsageMeter): Promise<string> {
  const splitter = new SseSplitter();
  let partial = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      for (const event of splitter.push(chunk)) {
        if (event.event?.endsWith('.partial_image')) partial += 1;
        meter.addEvent(event);
      }
    }
  } catch {
    return `${partial} partial, broken off`;
  }
  if (meter.end !== 'complete') return `${partial} partial, failed on the way`;
  const reported = meter.reported();
  const usage = reported ? `${reported.imageOutput} tokens reported` : 'nothing reported';
  return `${partial} partial, then the image, ${usage}`;
}
