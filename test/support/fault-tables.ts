/**
 * The outcome of every fault that the sandbox upstream can simulate, for each kind of call: the answer to the client,
 * whether SDKs would retry the call, what happens to the answer or task later, and what is in the ledger.
 *
 * Retries: `never`, because of the status; `forbidden`, by x-should-retry, because the upstream's outcome is unknown;
 * `asked` for by Retry-After, because the upstream did nothing. Everything but a 200 is refunded before the answer.
 */
export interface FaultRow {
  answer: string;
  repeats: string;
  then: string;
  ledger: string;
}

export type FaultTable = ReadonlyMap<string, FaultRow>;

/** Parses `fault | answer | repeats | then | ledger`, one row per line. The rows replace those of `base`. */
function table(text: string, base: FaultTable = new Map<string, FaultRow>()): FaultTable {
  const rows = new Map(base);
  for (const line of text.trim().split('\n')) {
    const [fault = '', answer = '', repeats = '', then = '', ledger = ''] = line
      .split('|')
      .map((cell) => cell.trim());
    rows.set(fault, { answer, repeats, then, ledger });
  }
  return rows;
}

/** Two images at 0.02 USD: from a prompt, from an image, and in Google's format. */
const images = table(`
  reject-400          | 400 upstream_rejected        | never     | -        | released
  reject-401          | 503 service_unavailable      | asked     | -        | released
  reject-403          | 503 service_unavailable      | asked     | -        | released
  reject-404          | 503 service_unavailable      | asked     | -        | released
  reject-415          | 415 unsupported_media_type   | never     | -        | released
  reject-422          | 422 upstream_rejected        | never     | -        | released
  reject-429          | 503 service_unavailable      | asked     | -        | released
  reject-500          | 503 service_unavailable      | asked     | -        | released
  reject-503          | 503 service_unavailable      | asked     | -        | released
  reject-529          | 502 generation_failed        | forbidden | -        | released
  moderation          | 400 content_policy_violation | never     | -        | released
  fail-late           | 503 service_unavailable      | asked     | -        | released
  never-finish        | 502 generation_failed        | forbidden | -        | released
  unknown-status      | 200                          | never     | 2 images | settled 0.04
  done-word           | 200                          | never     | 2 images | settled 0.04
  error-200           | 502 generation_failed        | forbidden | -        | released
  poll-5xx            | 200                          | never     | 2 images | settled 0.04
  poll-429            | 200                          | never     | 2 images | settled 0.04
  another-id          | 200                          | never     | 2 images | settled 0.04
  early-end           | 200                          | never     | 2 images | settled 0.04
  late-file           | 200                          | never     | 2 images | settled 0.04
  accept-then-timeout | 502 generation_failed        | forbidden | -        | released
  partial             | 200                          | never     | 1 images | settled 0.02
  slow-bytes          | 200                          | never     | 2 images | settled 0.04
  truncated           | 502 generation_failed        | forbidden | -        | released
  bad-file            | 200                          | never     | 2 images | settled 0.04
  no-usage            | 200                          | never     | 2 images | settled 0.04
  mid-stream-error    | 200                          | never     | 2 images | settled 0.04
  stream-cut          | 200                          | never     | 2 images | settled 0.04
`);

interface TokenCost {
  /** The cost of both images, and of the one out of two that arrived, as the vendor reports it. */
  both: string;
  one: string;
  /** The cost of both, if the vendor reports nothing. */
  likely: string;
}

/** The same two images with a model priced by tokens. */
function byTokens({ both, one, likely }: TokenCost): FaultTable {
  const costs: Record<string, string> = {
    'settled 0.04': `settled ${both}`,
    'settled 0.02': `settled ${one}`,
  };
  const rows = [...images].map(([fault, row]): [string, FaultRow] => {
    const ledger = fault === 'no-usage' ? `settled ${likely}` : (costs[row.ledger] ?? row.ledger);
    return [fault, { ...row, ledger }];
  });
  return new Map(rows);
}

/**
 * A million text tokens cost 2.5 USD, those of an input image 8, and those of an output image 32. The vendor reports 9
 * for the text and 8 per image. If it reports nothing, 22 for the text and 1,056 per image are likely.
 */
const imagesByTokens = byTokens({ both: '0.0005345', one: '0.0002785', likely: '0.067694' });
/** The edited image takes 272 tokens, or probably 400 if the vendor reports nothing. */
const editsByTokens = byTokens({ both: '0.0027105', one: '0.0024545', likely: '0.074094' });

/** The whole answer is HTML, rather than one file in it. */
const geminiImages = table(
  `
  bad-file            | 502 generation_failed        | forbidden | -        | released
`,
  images,
);

/** The images have to be downloaded. An image that cannot be downloaded is not charged. */
const imagesByAddress = table(
  `
  bad-file            | 502 generation_failed        | forbidden | -        | released
`,
  images,
);

/** The same for a vendor that is polled until the images exist. */
const imagesOfQueue = table(
  `
  truncated           | 502 generation_failed        | forbidden | -        | released
`,
  imagesByAddress,
);

/** For a vendor that makes one image per request: each request must make one fewer. */
const NONE_MADE = `
  partial             | 503 service_unavailable      | asked     | -        | released
`;
const imagesOneByOne = table(NONE_MADE, images);
const imagesOfQueueOneByOne = table(NONE_MADE, imagesOfQueue);

/**
 * One second of video at 0.05 USD. If the outcome of creating it is unknown, the answer is a 200, and the creation is
 * repeated with its key until the deadline.
 */
const videos = table(`
  reject-400          | 400 upstream_rejected        | never     | -                        | released
  reject-401          | 503 service_unavailable      | asked     | -                        | released
  reject-403          | 503 service_unavailable      | asked     | -                        | released
  reject-404          | 503 service_unavailable      | asked     | -                        | released
  reject-415          | 415 unsupported_media_type   | never     | -                        | released
  reject-422          | 422 upstream_rejected        | never     | -                        | released
  reject-429          | 503 service_unavailable      | asked     | -                        | released
  reject-500          | 503 service_unavailable      | asked     | -                        | released
  reject-503          | 503 service_unavailable      | asked     | -                        | released
  reject-529          | 200                          | never     | failed generation_failed | released
  moderation          | 400 content_policy_violation | never     | -                        | released
  fail-late           | 200                          | never     | failed generation_failed | released
  never-finish        | 200                          | never     | failed generation_failed | released
  unknown-status      | 200                          | never     | completed                | settled 0.05
  done-word           | 200                          | never     | completed                | settled 0.05
  error-200           | 200                          | never     | failed generation_failed | released
  poll-5xx            | 200                          | never     | completed                | settled 0.05
  poll-429            | 200                          | never     | completed                | settled 0.05
  another-id          | 200                          | never     | completed                | settled 0.05
  early-end           | 200                          | never     | completed                | settled 0.05
  late-file           | 200                          | never     | completed                | settled 0.05
  accept-then-timeout | 200                          | never     | completed                | settled 0.05
  partial             | 200                          | never     | completed                | settled 0.05
  slow-bytes          | 200                          | never     | completed                | settled 0.05
  truncated           | 200                          | never     | failed generation_failed | released
  bad-file            | 200                          | never     | failed generation_failed | released
  no-usage            | 200                          | never     | completed                | settled 0.05
  mid-stream-error    | 200                          | never     | completed                | settled 0.05
  stream-cut          | 200                          | never     | completed                | settled 0.05
`);

/** Without idempotency keys at the vendor, a creation that got no answer is not repeated. */
const videosWithoutKeys = table(
  `
  accept-then-timeout | 200                          | never     | failed generation_failed | released
`,
  videos,
);

/** A 404 for a remix means that its video is gone. */
const videoRemixes = table(
  `
  reject-404          | 400 video_not_remixable      | never     | -                        | released
`,
  videos,
);

/** The model checks content only while it works. */
const videosLookedAtLate = table(
  `
  moderation          | 200                          | never     | failed content_policy_violation | released
`,
  videosWithoutKeys,
);

/** A queue accepts any input. */
const videosOfQueue = table(
  `
  reject-422          | 200                          | never     | failed generation_failed | released
`,
  videosLookedAtLate,
);

/** The same for a 3D draft, which costs 0.1 USD. */
const assetRows = (rows: FaultTable): FaultTable =>
  new Map([...rows].map(([fault, row]) => [fault, { ...row, ledger: row.ledger.replace('0.05', '0.1') }]));
const assets = assetRows(videos);
const assetsWithoutKeys = assetRows(videosWithoutKeys);

/**
 * `by usage`: exactly the reported tokens; `by text`: the estimated input tokens, and the text that the client has
 * read.
 */
const whole = table(`
  reject-400          | 400 upstream_rejected        | never     | -     | released
  reject-401          | 503 service_unavailable      | asked     | -     | released
  reject-403          | 503 service_unavailable      | asked     | -     | released
  reject-404          | 503 service_unavailable      | asked     | -     | released
  reject-415          | 400 upstream_rejected        | never     | -     | released
  reject-422          | 400 upstream_rejected        | never     | -     | released
  reject-429          | 503 service_unavailable      | asked     | -     | released
  reject-500          | 503 service_unavailable      | asked     | -     | released
  reject-503          | 503 service_unavailable      | asked     | -     | released
  reject-529          | 502 generation_failed        | forbidden | -     | released
  moderation          | 400 content_policy_violation | never     | -     | released
  fail-late           | 503 service_unavailable      | asked     | -     | released
  never-finish        | 502 generation_failed        | forbidden | -     | released
  unknown-status      | 200                          | never     | whole | settled by usage
  done-word           | 200                          | never     | whole | settled by usage
  error-200           | 502 generation_failed        | forbidden | -     | released
  poll-5xx            | 200                          | never     | whole | settled by usage
  poll-429            | 200                          | never     | whole | settled by usage
  another-id          | 200                          | never     | whole | settled by usage
  early-end           | 200                          | never     | whole | settled by usage
  late-file           | 200                          | never     | whole | settled by usage
  accept-then-timeout | 502 generation_failed        | forbidden | -     | released
  partial             | 200                          | never     | whole | settled by usage
  slow-bytes          | 200                          | never     | whole | settled by usage
  truncated           | 502 generation_failed        | forbidden | -     | released
  bad-file            | 502 generation_failed        | forbidden | -     | released
  no-usage            | 200                          | never     | whole | settled by text
  mid-stream-error    | 502 generation_failed        | forbidden | -     | released
  stream-cut          | 502 generation_failed        | forbidden | -     | released
`);

/** Once anything was sent, the status is fixed: the fault is the last event, and what was read is charged. */
const streamed = table(
  `
  never-finish        | 200                          | never     | half, then generation_failed | settled by text
  truncated           | 200                          | never     | half, then generation_failed | settled by text
  mid-stream-error    | 200                          | never     | half, then generation_failed | settled by text
  stream-cut          | 200                          | never     | half, then generation_failed | settled by text
`,
  whole,
);

/** Anthropic answers like this before doing any work. */
const OVERLOADED = `
  reject-529          | 503 service_unavailable      | asked     | -     | released
`;

/** 0.015 USD per call, and only if the sound is complete. */
const speech = new Map(
  [
    ...table(
      `
  truncated           | 200                          | never     | broken | released
  stream-cut          | 200                          | never     | broken | released
  no-usage            | 200                          | never     | whole  | settled 0.015
  mid-stream-error    | 200                          | never     | whole  | settled 0.015
`,
      whole,
    ),
  ].map(([fault, row]) => [fault, { ...row, ledger: row.ledger.replace('by usage', '0.015') }]),
);

/** 0.01 USD per call. The answer is not a stream, so it cannot break off in the middle. */
const embeddings: FaultTable = new Map(
  [
    ...table(
      `
  mid-stream-error    | 200                          | never     | whole  | settled by usage
  stream-cut          | 200                          | never     | whole  | settled by usage
`,
      whole,
    ),
  ].map(([fault, row]) => [fault, { ...row, ledger: row.ledger.replace(/by (usage|text)/, '0.01') }]),
);

/** Two seconds of sound at 0.015 USD, as reported or else as counted. The text arrives completely or not at all. */
const hearing: FaultTable = new Map(
  [
    ...table(
      `
  mid-stream-error    | 200                          | never     | whole  | settled by usage
  stream-cut          | 200                          | never     | whole  | settled by usage
`,
      whole,
    ),
  ].map(([fault, row]) => [fault, { ...row, ledger: row.ledger.replace(/by (usage|text)/, '0.03') }]),
);

/** The same with a streaming model priced by tokens: as the vendor reports, or else by length and text. */
const hearingStreamed = table(
  `
  mid-stream-error    | 200                          | never     | whole  | settled by usage
  stream-cut          | 200                          | never     | whole  | settled by usage
  truncated           | 200                          | never     | half, then generation_failed | settled by text
`,
  whole,
);

/** One image at 0.02 USD. Only a complete one is charged, whatever the client has seen before. */
const imageStreamed: FaultTable = new Map(
  [
    ...table(
      `
  reject-415          | 400 upstream_rejected        | never     | -                            | released
  reject-422          | 400 upstream_rejected        | never     | -                            | released
  never-finish        | 200                          | never     | half, then generation_failed | released
  truncated           | 200                          | never     | half, then generation_failed | released
  mid-stream-error    | 200                          | never     | half, then generation_failed | released
  stream-cut          | 200                          | never     | half, then generation_failed | released
`,
      images,
    ),
  ].map(([fault, row]) => [
    fault,
    { ...row, then: row.then.replace(/. images/, 'whole'), ledger: row.ledger.replace('0.04', '0.02') },
  ]),
);

export const faultTables = {
  hearingStreamed,
  imageStreamed,
  images,
  imagesByTokens,
  editsByTokens,
  geminiImages,
  imagesByAddress,
  imagesOfQueue,
  imagesOneByOne,
  imagesOfQueueOneByOne,
  videos,
  videoRemixes,
  videosWithoutKeys,
  videosLookedAtLate,
  videosOfQueue,
  assets,
  assetsWithoutKeys,
  whole,
  streamed,
  wholeMessages: table(OVERLOADED, whole),
  streamedMessages: table(OVERLOADED, streamed),
  speech,
  embeddings,
  hearing,
} satisfies Record<string, FaultTable>;
