import { newId } from '#platform/ids.js';

const TOO_BUSY = 503;

/**
 * Concurrent requests. Each has its own request ID, so it can be repeated while the server is out of connections: tests
 * check the outcome, not the speed of the machine.
 */
export function atOnce<A extends { response: Response }>(
  count: number,
  send: (requestId: string) => Promise<A>,
): Promise<A[]> {
  return Promise.all(Array.from({ length: count }, () => patiently(send, newId())));
}

async function patiently<A extends { response: Response }>(
  send: (requestId: string) => Promise<A>,
  requestId: string,
): Promise<A> {
  for (;;) {
    const answer = await send(requestId);
    if (answer.response.status !== TOO_BUSY) return answer;
  }
}
