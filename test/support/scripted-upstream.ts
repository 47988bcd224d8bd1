import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Script = (response: ServerResponse, body: Record<string, unknown>) => void;

/** A chat upstream whose answer depends on the first word of the last message. */
export interface ScriptedUpstream {
  url: string;
  /** Every request, in order. */
  bodies: Record<string, unknown>[];
  close(): void;
}

export const SSE = { 'content-type': 'text/event-stream' };

/** One event of a stream, from JSON or text. */
export function event(body: object | string): string {
  return `data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`;
}

/** One chunk of a streamed chat, with some text. */
export function word(content: string): string {
  return event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
}

export async function startScriptedUpstream(scripts: Record<string, Script>): Promise<ScriptedUpstream> {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    const serve = async () => {
      const body = await readBody(request);
      bodies.push(body);
      const script = scripts[lastText(body).split(' ')[0] ?? ''];
      if (script) script(response, body);
      else response.writeHead(500).end();
    };
    // A client that gives up before the end of its request body does not wait for an answer.
    void serve().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The last message, from OpenAI's `messages` or Google's `contents`. */
function lastText({ messages, contents }: Record<string, unknown>): string {
  const content = (contents as { parts: { text: string }[] }[] | undefined)?.at(-1);
  return content?.parts.at(-1)?.text ?? (messages as { content: string }[]).at(-1)?.content ?? '';
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}
