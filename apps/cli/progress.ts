const REFRESH_MS = 250;

/** The part of a terminal that progress is shown on. */
export interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

export interface Counting<T> {
  /** What an item counts for. */
  sizeOf: (item: T) => number;
  /** Words the sum. */
  words: (sum: number) => string;
}

/**
 * Hands on what it is given and counts it on standard error, where that is a terminal: for files whose length nobody knows
 * before their end. The line is gone when the last one is handed on, or the reader has had enough.
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
  let shownAtMs = 0;
  try {
    for await (const item of items) {
      sum += sizeOf(item);
      if (Date.now() - shownAtMs >= REFRESH_MS) {
        output.write(`\r${words(sum)}`);
        shownAtMs = Date.now();
      }
      yield item;
    }
  } finally {
    output.write('\r\u001b[K');
  }
}
