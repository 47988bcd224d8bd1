import { newId } from '#platform/ids.js';

const TOO_BUSY = 503;

/**
 * So many requests at the same time, each with a request id of its own, by which it is sent again while the server has no
 * connection left for it, as it tells clients to: what they come to is asserted, and not how fast the machine is.
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
