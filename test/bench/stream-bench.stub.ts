import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The upstream of the stream benchmark, in a separate process. A chat's first message says how many events to stream
 * and the milliseconds between them; 0 means as fast as they are read. It reports to its parent where it listens.
 */
const EVENT = Buffer.from(
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'bench',
    choices: [{ index: 0, delta: { content: ' word' }, logprobs: null, finish_reason: null }],
    usage: null,
  })}\n\n`,
);
const USAGE = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 };
const END = Buffer.from(
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', choices: [], usage: USAGE })}\n\n` +
    'data: [DONE]\n\n',
);

/** Writes events until none are left, or the reader has to catch up. */
function pour(response: ServerResponse, left: number): void {
  for (let rest = left; rest > 0; rest -= 1) {
    if (!response.write(EVENT)) {
      response.once('drain', () => pour(response, rest - 1));
      return;
    }
  }
  response.end(END);
}

function drip(response: ServerResponse, events: number, gapMs: number): void {
  let left = events;
  response.write(EVENT);
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) response.write(EVENT);
    else response.end(END);
  }, gapMs);
  response.once('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: string }[] };
    const [events = 1, gapMs = 0] = (body.messages[0]?.content ?? '').split(' ').map(Number);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (gapMs > 0) drip(response, events, gapMs);
    else pour(response, events);
  });
});
// Never the side that closes: a connection that closes while a call is on its way would count as a failure of the
// relay.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

// The parent has ended, so nobody needs answers any more.
process.on('disconnect', () => process.exit(0));
// Ctrl-C in the terminal reaches the whole group. The parent ends its children in order.
process.on('SIGINT', () => undefined);
