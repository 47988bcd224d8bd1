import { json, startStub, type StubUpstream } from '#upstream/upstream.fixture.js';

/** 100 kB and 1 kB of text with control characters. A whole answer must stay below the limit for a task's answer. */
const [REASON, CODE] = [10_000, 100].map((times) => 'no\u0000\u001b[31m\r\n'.repeat(times));
/** An error in every format at once. */
const ENDLESS_ERROR = {
  error: { message: REASON, code: CODE, type: CODE },
  detail: REASON,
  error_type: CODE,
  title: CODE,
  message: REASON,
};

/** What happens at a URL before the vendor is reached. */
export const frontWords: readonly string[] = ['proxy-502', 'endless-reason'];

/** A proxy in front of every vendor. The first segment of a path decides how it answers. */
export function startFront(): Promise<StubUpstream> {
  return startStub(({ url = '' }, response) => {
    if (url.startsWith('/endless-reason/')) return json(response, 400, ENDLESS_ERROR);
    response.writeHead(502, { 'content-type': 'text/html' });
    response.end('<html><h1>502 Bad Gateway</h1></html>');
  });
}
