import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Script = (response: ServerResponse, body: Record<string, unknown>) => void;

/** An upstream of chats that answers as the first word of the last message says. */
export interface ScriptedUpstream {
  url: string;
  /** Everything that was asked, in order. */
  bodies: Record<string, unknown>[];
  close(): void;
}

export const SSE = { 'content-type': 'text/event-stream' };

/** One event of a stream, from its JSON or from its text. */
export function event(body: object | string): string {
  return `data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`;
}

/** A chunk of a chat with some text. */
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
    // Whoever gives up before the end of its body waits for no answer.
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

/** What was said last, in messages or in Google's contents. */
function lastText({ messages, contents }: Record<string, unknown>): string {
  const content = (contents as { parts: { text: string }[] }[] | undefined)?.at(-1);
  return content?.parts.at(-1)?.text ?? (messages as { content: string }[]).at(-1)?.content ?? '';
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}
