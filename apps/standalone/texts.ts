export const HELP = `Starts a whole Tollgate relay in one process: API, billing, video worker, database and a sandbox upstream.

Usage: npm start [-- --json]

Options:
  --json   print one JSON line when ready: {"ready":true,"baseUrl","consoleUrl","apiKey","pid"}
  --help   show this help

Environment:
  PORT, CONSOLE_PORT      ports of the API (8787) and the console (8788); 0 takes free ones
  HOST                    address to listen on (127.0.0.1)
  DATA_DIR                database, files and keys; kept between starts (.data)
  HEALTH_PORT             /health/live, /health/ready and /metrics; off without it
  PUBLIC_BASE_URL         address that clients use, if it is not this one
  SANDBOX_IMAGE_SECONDS   how long the sandbox takes for an image (0.3)
  SANDBOX_VIDEO_SECONDS   and for a video (6)
  SANDBOX_URL             another upstream in place of the built-in sandbox, with SANDBOX_API_KEY
  LOG_LEVEL               warn
  The variables of the programs, as docs/configuration.md lists them.

SIGTERM and SIGINT finish what is in flight first. Exit codes: 0 stopped, 1 failed.
`;

export interface ReadyLine {
  baseUrl: string;
  consoleUrl: string;
  apiKey: string;
}

/** What people see when the relay is ready: the addresses, the key, and three lines to paste. */
export function greeting({ baseUrl, consoleUrl, apiKey }: ReadyLine): string {
  const curl = `curl -s -H 'Authorization: Bearer ${apiKey}'`;
  const post = `${curl} -H 'Content-Type: application/json'`;
  const image = JSON.stringify({ model: 'vendora-imagine-image', prompt: 'a lighthouse at dusk', n: 1 });
  const video = JSON.stringify({ model: 'vendora-imagine-video', prompt: 'waves at night', seconds: '3' });
  const id = `ID=$(${post} ${baseUrl}/v1/videos -d '${video}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')`;
  const fetched = `${curl} -f -o video.mp4 ${baseUrl}/v1/videos/$ID/content`;
  const download = `for i in $(seq 60); do ${fetched} && ls -l video.mp4 && break; sleep 1; done`;
  return `
Tollgate is ready.

  Base URL   ${baseUrl}        (OpenAI clients: ${baseUrl}/v1)
  Console    ${consoleUrl}
  API key    ${apiKey}

List the models, make an image, make a video and download it:

${curl} ${baseUrl}/v1/models

${post} ${baseUrl}/v1/images/generations -d '${image}'

${id}; ${download}

Stop with Ctrl-C. More: npm run demo, npx --no-install tollgate --help
`;
}
