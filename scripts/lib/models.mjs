// docs/models.md: what each protocol offers, and what its suite tries, from the tables that the suite runs.

const OPERATIONS = {
  images: 'images',
  imageEdits: 'edits',
  maskedEdits: 'edits with a mask',
  imageStream: 'streamed images',
  editStream: 'streamed edits',
  videos: 'video',
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
  messagesCount: 'counts of messages',
  contentsCount: 'counts of contents',
};

const INTRODUCTION = `# Vendors and what is tried

<!-- Written by \`npm run reference\` from apps/sandbox-upstream/contract. -->

A channel speaks one protocol, and a protocol offers some operations. Every protocol is tried with the sandbox, which speaks
the vendor's own wire: all cases of an operation, for each protocol that has it. Nothing here was tried against a vendor's
live service. How to add one is in [Adding an upstream](adding-an-upstream.md).

The numbers are the cases that \`apps/sandbox-upstream/contract/contract.spec.ts\` runs.
`;

const OUTCOMES = `## What each case comes to

- \`refused\`: for what the caller sent. The money is released, and the caller reads the vendor's message.
- \`not accepted\`: the vendor took nothing, or gave up for good. Another channel may be asked.
- \`unclear\`: the vendor may be at work. No other channel is asked; the money of an image is released, and a task waits for
  its deadline.
- A vendor that answers 429 lets the key rest for as long as its \`Retry-After\` says, and the channel's other keys are used.

The fault that the sandbox is ordered to make is in the second column; its README says what each does.
`;

/** @param {(alias: string) => Promise<object>} load imports a module of the project by its alias */
export async function modelsPage(load) {
  const { protocolNames, Upstreams } = await load('#upstream/adapters.js');
  const { casesOf } = await load('#apps/sandbox-upstream/contract/cases.js');
  const contracts = await load('#apps/sandbox-upstream/contract/vendors.js');
  const upstreams = new Upstreams();
  const offers = protocolNames.map((protocol) => [protocol, upstreams.adapterFor(protocol).capabilities]);
  await upstreams.close();
  const page = { ...contracts, offers };
  const kinds = Map.groupBy(Object.keys(OPERATIONS), (operation) => casesOf[operation]);
  const sections = [...kinds.values()].map((operations) => sectionOf(operations, page));
  return [INTRODUCTION, offerTable(page), OUTCOMES, ...sections].join('\n');
}

function offerTable({ offers, casesFor, vendorContracts }) {
  const head = ['protocol', ...Object.values(OPERATIONS), 'in short'];
  const rows = offers.map(([protocol, offered]) => [
    `\`${protocol}\``,
    ...Object.keys(OPERATIONS).map((operation) =>
      offered.has(operation) ? String(casesFor(protocol, operation).length) : '',
    ),
    vendorContracts[protocol].about,
  ]);
  return tableOf(head, rows);
}

/** The cases of operations that share them, with what single protocols make of them instead. */
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
  return `### ${title[0].toUpperCase()}${title.slice(1)}\n\n${tableOf(['case', 'fault', 'outcome', 'elsewhere'], rows)}`;
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
