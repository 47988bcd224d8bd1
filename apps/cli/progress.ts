const REFRESH_MS = 250;

/** The part of a terminal that progress is shown on. */
export interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows words in place of the last ones, where the output is a terminal; without words the line is gone. */
export function showProgress(words = '', output: ProgressOutput = process.stderr): void {
  if (output.isTTY) output.write(`\r${words}\u001b[K`);
}

/** Shows a sum that grows, not more often than people can read it. */
export function progressOf(
  words: (sum: number) => string,
  output: ProgressOutput = process.stderr,
): (sum: number) => void {
  let shownAtMs = 0;
  return (sum) => {
    if (Date.now() - shownAtMs < REFRESH_MS) return;
    shownAtMs = Date.now();
    showProgress(words(sum), output);
  };
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
