import type { Command } from 'commander';
import type pg from 'pg';
import type { Channel } from '#catalog/catalog.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import { withOpenKeys } from '#catalog/channel-keys.js';
import { OperatorError } from '#platform/errors.js';
import { Upstreams } from '#upstream/adapters.js';
import type { KeyTrial } from '#upstream/health/probe.js';
import { command } from '../command.js';
import { secondsArgument } from '../arguments.js';
import { readSecretsOf, onDatabase } from '../database.access.js';
import { printList } from '../output.js';

export function channelsCommand(): Command {
  const channels = command('channels', 'the upstreams that serve models');
  command('list', 'all channels and what they serve; keys are never shown', channels).action(list);
  command(
    'test',
    'ask each upstream, with each of its keys, for something free, such as its list of models; exits 1 when one fails.\nIt holds no credits, and customers do not notice.',
    channels,
  )
    .argument('[channel]', 'channel id; without one, every channel that is enabled')
    .option('--timeout <seconds>', 'how long to wait for an answer', secondsArgument, 10_000)
    .action(test);
  return channels;
}

async function list(options: { json?: boolean }): Promise<void> {
  const channels = (await readChannels()).map(viewChannel);
  await printList(options, {
    items: channels,
    json: { channels },
    table: {
      Channel: 'channelId',
      Protocol: 'protocol',
      Address: 'baseUrl',
      State: ({ enabled }) => (enabled ? 'on' : 'off'),
      Keys: 'keys',
      Models: ({ models }) => models.length,
      Groups: ({ groups }) => groups.join(', '),
    },
  });
}

function viewChannel(channel: Channel) {
  const { id: channelId, protocol, baseUrl, enabled, priority, weight, apiKeys } = channel;
  const models = [...channel.models.keys()].sort();
  const groups = [...channel.groups].sort();
  return { channelId, protocol, baseUrl, enabled, priority, weight, keys: apiKeys.length, models, groups };
}

interface Trial extends KeyTrial {
  channelId: string;
  protocol: string;
}

async function test(
  channelId: string | undefined,
  options: { timeout: number; json?: boolean },
): Promise<void> {
  const trials = await tryKeys(chosen(await readChannels(), channelId), options);
  if (trials.some(({ verdict }) => verdict === 'failed')) process.exitCode = 1;
  await printList(options, {
    items: trials,
    json: { ok: process.exitCode !== 1, channels: trials },
    table: {
      Channel: 'channelId',
      Key: 'key',
      Asked: 'path',
      Status: 'status',
      Took: ({ latencyMs }) => `${latencyMs} ms`,
      Verdict: ({ verdict, detail }) => `${verdict}: ${detail}`,
    },
  });
}

async function tryKeys(
  channels: readonly Channel[],
  { timeout, json }: { timeout: number; json?: boolean },
): Promise<Trial[]> {
  const secrets = readSecretsOf(process.env);
  const upstreams = new Upstreams();
  const trials: Trial[] = [];
  try {
    for (const channel of channels.map((each) => withOpenKeys(each, secrets))) {
      const { id: channelId, protocol } = channel;
      if (!json) process.stderr.write(`Asking ${channelId} …\n`);
      const ofKeys = await upstreams.probeKeys(channel, timeout);
      trials.push(...ofKeys.map((trial) => ({ channelId, protocol, ...trial })));
    }
  } finally {
    await upstreams.close();
  }
  return trials;
}

function chosen(channels: readonly Channel[], channelId: string | undefined): Channel[] {
  if (channelId === undefined) {
    const enabled = channels.filter((channel) => channel.enabled);
    if (enabled.length === 0) throw new OperatorError('No channel is enabled, so no model can be served.');
    return enabled;
  }
  const found = channels.find(({ id }) => id === channelId);
  if (!found)
    throw new OperatorError(`There is no channel "${channelId}"; \`tollgate channels list\` lists them.`);
  return [found];
}

async function readChannels(): Promise<readonly Channel[]> {
  return onDatabase(async (pool: pg.Pool) => (await loadCatalog(pool)).channels);
}
