import { SingleBar } from 'cli-progress';

const REFRESH_MS = 250;

/** The part of a terminal that shows progress. */
export interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Replaces the text shown before, if the output is a terminal. Without text, clears the line. */
export function showProgress(words = '', output: ProgressOutput = process.stderr): void {
  if (output.isTTY) output.write(`\r${words}\u001b[K`);
}

/** Shows a growing sum, no more often than people can read. */
export function progressOf(
  words: (sum: number) => string,
  output: ProgressOutput = process.stderr,
): (sum: number) => void {
  let shownAtMs = -Infinity;
  return (sum) => {
    const nowMs = performance.now();
    if (nowMs - shownAtMs < REFRESH_MS) return;
    shownAtMs = nowMs;
    showProgress(words(sum), output);
  };
}

export interface Counting<T> {
  sizeOf: (item: T) => number;
  words: (sum: number) => string;
}

/**
 * Passes items on and shows their sum on standard error, if that is a terminal: for files whose length is unknown
 * until they end. The line disappears at the end, or if the reader stops.
 */
export async function* countedOn<T>(
  items: AsyncIterable<T>,
  { sizeOf, words }: Counting<T>,
  output: ProgressOutput = process.stderr,
): AsyncGenerator<T> {
  if (!output.isTTY) {
    yield* items;
    return;
  }
  let sum = 0;
  const show = progressOf(words, output);
  try {
    for await (const item of items) {
      show((sum += sizeOf(item)));
      yield item;
    }
  } finally {
    showProgress('', output);
  }
}

/** Shows a bar on a terminal during work that knows how much there is to do, and may take minutes. */
export async function withBar<T>(
  words: string,
  work: (onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const bar = new SingleBar({
    format: `{bar} {value} of {total} ${words}`,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    barsize: 40,
  });
  try {
    return await work((done, total) => (done === 0 ? bar.start(total, 0) : bar.update(done)));
  } finally {
    bar.stop();
  }
}
