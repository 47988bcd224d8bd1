import { Command } from 'commander';
import type pg from 'pg';
import type { Channel } from '#catalog/catalog.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import { withOpenKeys } from '#catalog/channel-keys.js';
import { OperatorError } from '#platform/errors.js';
import { Upstreams } from '#upstream/adapters.js';
import type { KeyTrial } from '#upstream/health/probe.js';
import { secondsArgument, JSON_OPTION } from '../arguments.js';
import { readSecretsOf, onDatabase } from '../database.access.js';
import { printJson, printText, table } from '../output.js';

export function channelsCommand(): Command {
  const channels = new Command('channels').description('the upstreams that serve models');
  channels
    .command('list')
    .description('all channels and what they serve; keys are never shown')
    .option(...JSON_OPTION)
    .action(list);
  channels
    .command('test')
    .description(
      'ask each upstream, with each of its keys, for something free, such as its list of models; exits 1 when one fails.\nIt holds no money and no customer notices.',
    )
    .argument('[channel]', 'channel id; without one, every channel that is enabled')
    .option('--timeout <seconds>', 'how long to wait for an answer', secondsArgument, 10_000)
    .option(...JSON_OPTION)
    .action(test);
  return channels;
}

async function list(options: { json?: boolean }): Promise<void> {
  const channels = (await readChannels()).map((channel) => ({
    channelId: channel.id,
    protocol: channel.protocol,
    baseUrl: channel.baseUrl,
    enabled: channel.enabled,
    priority: channel.priority,
    weight: channel.weight,
    keys: channel.apiKeys.length,
    models: [...channel.models.keys()].sort(),
    groups: [...channel.groups].sort(),
  }));
  if (options.json) return printJson({ channels });
  const titles = ['Channel', 'Protocol', 'Address', 'State', 'Keys', 'Models', 'Groups'];
  const rows = channels.map(({ channelId, protocol, baseUrl, enabled, keys, models, groups }) => [
    channelId,
    protocol,
    baseUrl,
    enabled ? 'on' : 'off',
    String(keys),
    String(models.length),
    groups.join(', '),
  ]);
  printText(table(titles, rows));
}

interface Trial extends KeyTrial {
  channelId: string;
  protocol: string;
}

async function test(
  channelId: string | undefined,
  options: { timeout: number; json?: boolean },
): Promise<void> {
  const secrets = readSecretsOf(process.env);
  const channels = chosen(await readChannels(), channelId).map((channel) => withOpenKeys(channel, secrets));
  const upstreams = new Upstreams();
  const trials: Trial[] = [];
  try {
    for (const channel of channels) {
      if (!options.json) process.stderr.write(`Asking ${channel.id} …\n`);
      const { id, protocol } = channel;
      const ofKeys = await upstreams.probeKeys(channel, options.timeout);
      trials.push(...ofKeys.map((trial) => ({ channelId: id, protocol, ...trial })));
    }
  } finally {
    await upstreams.close();
  }
  if (trials.some(({ verdict }) => verdict === 'failed')) process.exitCode = 1;
  if (options.json) return printJson({ ok: process.exitCode !== 1, channels: trials });
  const titles = ['Channel', 'Key', 'Asked', 'Status', 'Took', 'Verdict'];
  const rows = trials.map(({ channelId: id, key, path, status, latencyMs, verdict, detail }) => [
    id,
    String(key),
    path,
    String(status ?? '-'),
    `${latencyMs} ms`,
    `${verdict}: ${detail}`,
  ]);
  printText(table(titles, rows));
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
  return onDatabase(process.env, async (pool: pg.Pool) => (await loadCatalog(pool)).channels);
}
