import { settingsOf } from '#platform/config.js';
import { settingsHelp } from '#platform/settings/help.js';
import { readStandaloneProgram } from './standalone.config.js';

export function help(): string {
  return `Starts a whole Tollgate relay in one process: API, billing, video worker, database and a sandbox upstream.

Usage: npm start [-- --json]

Options:
  --json   print one JSON line when ready: {"ready":true,"baseUrl","consoleUrl","apiKey","pid"}
  --help   show this help

Environment:
${settingsHelp(settingsOf(readStandaloneProgram))}
  The variables of the programs, as docs/configuration.md lists them.

SIGTERM and SIGINT finish what is in flight first. Exit codes: 0 stopped, 1 failed.
`;
}

export interface ReadyLine {
  baseUrl: string;
  consoleUrl: string;
  apiKey: string;
}

const IMAGE = JSON.stringify({ model: 'vendora-imagine-image', prompt: 'a lighthouse at dusk', n: 1 });
const VIDEO = JSON.stringify({ model: 'vendora-imagine-video', prompt: 'waves at night', seconds: '3' });

/** Shown when the relay is ready: the addresses, the key, and three lines to paste. */
export function greeting({ baseUrl, consoleUrl, apiKey }: ReadyLine): string {
  const curl = `curl -s -H 'Authorization: Bearer ${apiKey}'`;
  const post = `${curl} -H 'Content-Type: application/json'`;
  const id = `ID=$(${post} ${baseUrl}/v1/videos -d '${VIDEO}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')`;
  const fetched = `${curl} -f -o video.mp4 ${baseUrl}/v1/videos/$ID/content`;
  const download = `for i in $(seq 60); do ${fetched} && ls -l video.mp4 && break; sleep 1; done`;
  return `
Tollgate is ready.

  Base URL   ${baseUrl}        (OpenAI clients: ${baseUrl}/v1)
  Console    ${consoleUrl}
  API key    ${apiKey}

List the models, make an image, make a video and download it:

${curl} ${baseUrl}/v1/models

${post} ${baseUrl}/v1/images/generations -d '${IMAGE}'

${id}; ${download}

Stop with Ctrl-C. More: npm run demo, npx --no-install tollgate --help
`;
}
