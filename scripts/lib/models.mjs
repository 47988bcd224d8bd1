// docs/models.md: what each protocol supports, and the test cases of its suite, from the tables that the suite runs.

const OPERATIONS = {
  images: 'images',
  imageEdits: 'edits',
  maskedEdits: 'edits with a mask',
  imageStream: 'streamed images',
  editStream: 'streamed edits',
  videos: 'video',
  silentVideos: 'video without sound',
  videoRemixes: 'remixes',
  assets3d: '3D',
  chat: 'chat',
  responses: 'responses',
  messages: 'messages',
  contents: 'contents',
  speech: 'speech',
  transcription: 'transcriptions',
  translation: 'translations',
  embeddings: 'embeddings',
  messagesCount: 'message token counts',
  contentsCount: 'contents token counts',
};

const INTRODUCTION = `# Vendors and test cases

<!-- Written by \`npm run reference\` from apps/sandbox-upstream/contract. -->

A channel uses one protocol, and each protocol supports some operations. The numbers below are test cases. For each operation, the
suite \`apps/sandbox-upstream/contract/contract.spec.ts\` runs all cases over every protocol that supports it. It uses the sandbox, which
implements the vendors' own APIs. Nothing was tested against a vendor's live service.

To add a protocol, see [Adding an upstream](adding-an-upstream.md).
`;

const OUTCOMES = `## Outcomes

- \`refused\`: the vendor rejected the request. The hold is refunded, and the caller sees the vendor's message.
- \`not accepted\`: the vendor did not accept the request, or gave up for good. Another channel may be tried.
- \`unclear\`: the vendor may be working on it. No other channel is tried. An image is refunded at once, a task if it stays unclear for
  \`UNCLEAR_CREATE_SECONDS\`.
- If a vendor answers 429, that key pauses for the vendor's \`Retry-After\`, and the channel's other keys are used.

The second column names what happens. \`apps/sandbox-upstream/README.md\` explains the faults that the sandbox simulates; the others are set
up by \`apps/sandbox-upstream/contract\`.
`;

/** @param {(alias: string) => Promise<object>} load imports a module of the project by its alias */
export async function modelsPage(load) {
  const { protocolNames, Upstreams } = await load('#upstream/adapters.js');
  const { casesOf } = await load('#apps/sandbox-upstream/contract/cases.fixture.js');
  const contracts = await load('#apps/sandbox-upstream/contract/vendors.fixture.js');
  const upstreams = new Upstreams();
  const offers = protocolNames.map((protocol) => [protocol, upstreams.adapterFor(protocol).capabilities]);
  await upstreams.close();
  const page = { ...contracts, offers };
  const kinds = Map.groupBy(Object.keys(OPERATIONS), (operation) => casesOf[operation]);
  const sections = [...kinds.values()].map((operations) => sectionOf(operations, page));
  return [INTRODUCTION, offerTable(page), OUTCOMES, ...sections].join('\n');
}

/** The console's lists, which it has in the browser. @param {(alias: string) => Promise<object>} load as above */
export async function protocolList(load) {
  const { protocolNames, Upstreams } = await load('#upstream/adapters.js');
  const upstreams = new Upstreams();
  const withSecret = protocolNames.filter((protocol) => upstreams.adapterFor(protocol).needsWebhookSecret);
  await upstreams.close();
  return `// Written by \`npm run reference\` from libs/upstream/adapters.ts.
export const protocols = ${JSON.stringify(protocolNames)} as const;

/** Their vendors sign webhooks with a secret that the channel needs to know. */
export const withWebhookSecret: readonly string[] = ${JSON.stringify(withSecret)};
`;
}

function offerTable({ offers, casesFor, vendorContracts }) {
  const head = ['protocol', ...Object.values(OPERATIONS), 'summary'];
  const rows = offers.map(([protocol, offered]) => [
    `\`${protocol}\``,
    ...Object.keys(OPERATIONS).map((operation) =>
      offered.has(operation) ? String(casesFor(protocol, operation).length) : '',
    ),
    vendorContracts[protocol].about,
  ]);
  return tableOf(head, rows);
}

/** The cases that these operations share, and where single protocols differ. */
function sectionOf(operations, { offers, casesFor }) {
  const runs = offers.flatMap(([protocol, offered]) =>
    operations
      .filter((operation) => offered.has(operation))
      .map((operation) => ({ protocol, operation, cases: casesFor(protocol, operation) })),
  );
  const rows = runs[0].cases.map(({ name, happens }, index) => {
    const byOutcome = Map.groupBy(runs, ({ cases }) => cases[index].outcome);
    const [[usual], ...others] = [...byOutcome].sort(([, a], [, b]) => b.length - a.length);
    return [name, `\`${happens}\``, usual, others.map(([outcome, of]) => exception(outcome, of)).join('; ')];
  });
  const title = operations.map((operation) => OPERATIONS[operation]).join(', ');
  return `### ${title[0].toUpperCase()}${title.slice(1)}\n\n${tableOf(['case', 'fault', 'outcome', 'exceptions'], rows)}`;
}

function exception(outcome, runs) {
  const names = Map.groupBy(runs, ({ protocol }) => protocol);
  const where = [...names].map(([protocol, of]) =>
    of.length === 1 ? `${protocol} ${OPERATIONS[of[0].operation]}` : protocol,
  );
  return `${where.join(', ')}: ${outcome}`;
}

function tableOf(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows];
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}
