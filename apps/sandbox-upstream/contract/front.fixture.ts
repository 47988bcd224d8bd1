import { json, startStub, type StubUpstream } from '#upstream/upstream.fixture.js';

/** Text with control characters, 100 kB and 1 kB of it. All of an answer has to stay below the limit of a task's. */
const [REASON, CODE] = [10_000, 100].map((times) => 'no\u0000\u001b[31m\r\n'.repeat(times));
/** The error of every format at once. */
const ENDLESS_ERROR = {
  error: { message: REASON, code: CODE, type: CODE },
  detail: REASON,
  error_type: CODE,
  title: CODE,
  message: REASON,
};

/** What happens at an address before the vendor is reached. */
export const frontWords: readonly string[] = ['proxy-502', 'endless-reason'];

/** Stands before every vendor: the first segment of a path says how it answers. */
export function startFront(): Promise<StubUpstream> {
  return startStub(({ url = '' }, response) => {
    if (url.startsWith('/endless-reason/')) return json(response, 400, ENDLESS_ERROR);
    response.writeHead(502, { 'content-type': 'text/html' });
    response.end('<html><h1>502 Bad Gateway</h1></html>');
  });
}
