import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DocumentedRoute } from '#apps/control-plane/http/openapi.document.js';
import { newId } from '#platform/ids.js';
import { contractOf, type Person, sessionOf } from '../support/console.js';
import type { Contract } from '../support/openapi.js';
import { expectCleanLedger } from '../support/relay.js';
import { pages, root } from './support/blocks.js';
import { prepared } from './support/prepared.js';
import { Reader } from './support/reader.js';
import { Things, type Values } from './support/things.js';

/** Why an example cannot run here. All others must succeed. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  receivePaymentEvent: 'only a payment provider can sign an event: console-topups.spec.ts sends signed ones',
  watchAccount: 'the answer has no end: console-live.spec.ts reads it',
};

interface Example {
  page: string;
  operation: string;
  code: string;
}

/** The first block below the heading of each operation. */
const examples: Example[] = pages()
  .filter((page) => page.startsWith('docs/api/control-plane-'))
  .flatMap((page) => {
    const sections = readFileSync(join(root, page), 'utf8').split(/^## /m).slice(1);
    return sections.map((section) => ({
      page,
      operation: /\{#(\w+)\}/.exec(section)![1]!,
      code: /^```bash\n([\s\S]*?)^```$/m.exec(section)![1]!,
    }));
  });

describe('the examples in the control plane’s reference', () => {
  let reader: Reader;
  let things: Things;
  let contract: Contract;
  let usual: Values;

  beforeAll(async () => {
    reader = await Reader.start('control-plane', {
      SANDBOX_PAYMENTS: 'true',
      RECONCILE_GRACE_SECONDS: '0',
      PERIOD_MARGIN_SECONDS: '0.01',
      PRIVACY_POLL_SECONDS: '0.1',
      RESELLER_THRESHOLD_TOKENS: '50',
    });
    contract = await contractOf(reader.relay.consoleUrl);
    things = await Things.on(reader.relay);
    usual = await things.usual();
  });
  afterAll(async () => {
    await things?.close();
    if (reader) await expectCleanLedger(reader.relay);
    await reader?.close();
  });

  it('exist once for each operation', () => {
    const documented = contract.operations().map(({ operation }) => operation.operationId);
    expect(examples.map(({ operation }) => operation).sort()).toEqual(documented.sort());
    expect(Object.keys({ ...LEFT_OUT, ...prepared }).filter((id) => !documented.includes(id))).toEqual([]);
  });

  const operationOf = (id: string) =>
    contract.operations().find(({ operation }) => operation.operationId === id)!.operation;

  const senderOf = (id: string): Person => {
    const { 'x-access': access } = operationOf(id) as unknown as DocumentedRoute;
    return access === 'public' || access.includes('user') ? things.you : things.staff;
  };

  /** An example's lines, changed so that the reader keeps the answer. */
  const commandOf = async ({ operation, code }: Example): Promise<string> => {
    const { as = senderOf(operation), values } = (await prepared[operation]?.(things)) ?? {};
    const { cookie, 'x-csrf-token': csrf } = await sessionOf(reader.relay.fixture.billing, as.userId);
    const command = filled(code, { ...usual, requestId: newId(), ...values });
    const session = `SESSION=${cookie.split('=')[1]!} CSRF=${csrf}\n`;
    return session + command.replace('curl -s ', `curl -s -i -o ${operation} `);
  };

  const faultOf = async ({ operation }: Example): Promise<string | undefined> => {
    const answer = responseOf(readFileSync(join(reader.folder, operation), 'utf8'));
    if (answer.status >= 400) return `${operation}: ${answer.status} ${await answer.text()}`;
    return contract.check(operationOf(operation), answer).then(() => undefined, String);
  };

  it.each([...new Set(examples.map(({ page }) => page))])('of %s', async (page) => {
    const own = examples.filter((each) => each.page === page && !(each.operation in LEFT_OUT));
    const commands = [];
    for (const example of own) commands.push(await commandOf(example));
    await reader.run({ language: 'bash', code: commands.join('\n') });
    const faults = await Promise.all(own.map(faultOf));
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });
});

/** The code with values in place of the names in braces. @throws Error if a name has no value */
function filled(code: string, values: Values): string {
  return code.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`there is no ${name} in\n${code}`);
    return value;
  });
}

/** The response that curl printed with `-i`. */
function responseOf(printed: string): Response {
  const end = printed.indexOf('\r\n\r\n');
  const [start = '', ...lines] = printed.slice(0, end).split('\r\n');
  const status = Number(start.split(' ')[1]);
  const type = lines
    .find((line) => /^content-type:/i.test(line))
    ?.slice(13)
    .trim();
  const body = printed.slice(end + 4);
  const headers = type === undefined ? {} : { 'content-type': type };
  return new Response(body === '' ? null : body, { status, headers });
}
