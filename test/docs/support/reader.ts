import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Person, person } from '../../support/console.js';
import { freePort } from '../../support/free-port.js';
import { addModel } from '../../support/models.js';
import { silentWav } from '../../support/sounds.js';
import { type Customer, type Relay, startRelay, until } from '../../support/relay.js';
import { type Block, root } from './blocks.js';

/** Only a hang takes this long. */
const LIMIT_MS = 900_000;
const SECRETS_KEY = 'YSBrZXkgb2YgdGhlIHRlc3RzLCBvZiAzMiBieXRlcyE=';
/** npx takes as long as most commands to find the program, so only the examples of README.md use it. */
const BY_NPX = 'npx --no-install tollgate';
const TOLLGATE = `"${process.execPath}" "${join(root, 'apps/cli/bin/tollgate.mjs')}"`;

type Runnable = Pick<Block, 'language' | 'code'> & Partial<Pick<Block, 'page'>>;

/** Someone who follows the texts with their own folder and terminal, on a relay with a sandbox. */
export class Reader {
  private count = 0;
  private staff: Promise<Person> | undefined;

  private constructor(
    readonly relay: Relay,
    private readonly customer: Customer,
    /** Where the programs that it runs leave their files. */
    readonly folder: string,
  ) {}

  /** @param name of the folder below .cache, from which the project's packages can be imported */
  static async start(name: string, settings: Record<string, string> = {}): Promise<Reader> {
    const relay = await startRelay({ WEBHOOK_ALLOW_PRIVATE: 'true', SECRETS_KEY, ...settings });
    const customer = await relay.customer('100');
    const folder = join(root, '.cache', 'docs-examples', name);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await addOwnModels(relay);
    await writeFile(join(folder, 'speech.wav'), silentWav(2));
    return new Reader(relay, customer, folder);
  }

  async close(): Promise<void> {
    await this.relay.close();
  }

  /** Runs a block to its end. @returns what it printed. @throws Error with all of it if it fails */
  async run(block: Runnable): Promise<string> {
    const [program, ...args] = await this.commandOf(block);
    const child = spawn(program!, args, { cwd: this.folder, env: this.environment(), timeout: LIMIT_MS });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (part: Buffer) => (output += String(part)));
    child.stderr.on('data', (part: Buffer) => (errors += String(part)));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new Error(`It ended with ${code}:\n${block.code}\n${output}\n${errors}`);
    return output;
  }

  /** Runs a block's server until it has received the event that is sent to it. @returns what it printed */
  async receive(block: Block): Promise<string> {
    const port = await freePort();
    const { api } = await this.signedIn();
    const { data } = await api.POST('/api/webhooks', {
      body: { url: `http://127.0.0.1:${port}/`, events: ['video.completed'] },
    });
    const code = block.code.replace('whsec_…', data!.secret).replace('4000', String(port));
    const [program, ...args] = await this.commandOf({ ...block, code });
    const child = spawn(program!, args, { cwd: this.folder, env: this.environment() });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => (output += String(part)));
    try {
      await until('the server to listen', async () => output.includes('listening'));
      await api.POST('/api/webhooks/{endpointId}/pings', {
        params: { path: { endpointId: data!.id } },
      });
      await until('the event', async () => output.includes(`received ${block.receives}`));
      return output;
    } finally {
      child.kill();
    }
  }

  /** In Bash, variables and aliases persist from block to block of a page, as in a terminal. */
  private async commandOf({ language, code, page }: Runnable): Promise<string[]> {
    this.count += 1;
    const text = await this.inPlaceOf(page === 'README.md' ? code : code.replaceAll(BY_NPX, TOLLGATE));
    if (language === 'bash') {
      const state = join(this.folder, '.terminal');
      const before = `set -a -eo pipefail; shopt -s expand_aliases; touch ${state}; . ${state}`;
      return ['bash', '-c', `${before}\n${text}\n{ export -p; alias -p; } > ${state}`];
    }
    const ending = { js: 'mjs', ts: 'mts', python: 'py' }[language];
    const file = join(this.folder, `${this.count}.${ending}`);
    await writeFile(file, text);
    if (language === 'python') return [process.env['TOLLGATE_DOCS_PYTHON'] ?? 'python3', file];
    return [process.execPath, '--no-warnings', file];
  }

  /** Replaces what `npm start` prints in the texts with what was started for this test. */
  private async inPlaceOf(code: string): Promise<string> {
    const acting = 'TOLLGATE_AS=you@example.com';
    const text = code.includes(acting)
      ? code.replaceAll(acting, `TOLLGATE_AS=${(await this.signedIn()).email}`)
      : code;
    return text
      .replaceAll('http://127.0.0.1:8787', this.relay.baseUrl)
      .replaceAll('http://127.0.0.1:8788', this.relay.consoleUrl)
      .replaceAll('sk-tg-…', this.customer.apiKey);
  }

  /** The account's owner, who also gets the finance role. Until then nobody has a role, as on a new relay. */
  private signedIn(): Promise<Person> {
    const { accountId } = this.customer;
    this.staff ??= person(this.relay, { roles: ['finance'], accountId });
    return this.staff;
  }

  private environment(): NodeJS.ProcessEnv {
    const { PATH, HOME } = process.env;
    return {
      PATH,
      HOME,
      LANG: 'C.UTF-8',
      DATABASE_URL: this.relay.fixture.urlFor('billing'),
      SECRETS_KEY,
      NODE_COMPILE_CACHE: join(root, '.cache/compiled'),
      KEY: this.customer.apiKey,
    };
  }
}

/** A new relay's catalog has no model for embeddings, and none for transcriptions. */
async function addOwnModels({ fixture: { owner }, sandboxUrl: baseUrl }: Relay): Promise<void> {
  const channel = { channel: 'sandbox', protocol: 'openai-xai', baseUrl };
  await addModel(owner, { id: 'vendora-embed', like: 'vendora-chat', ...channel });
  await addModel(owner, { id: 'vendora-transcribe', like: 'vendora-speech', unit: 'second', ...channel });
}
