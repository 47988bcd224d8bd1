import { type Command, InvalidArgumentError } from 'commander';
import {
  findLetter,
  listLetters,
  outlookOf,
  replayLetter,
  type StoredLetter,
} from '#operations/dead-letter.service.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, operatorOf } from '../acting.js';
import { countArgument } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { firstItems, printJson, printList, printText } from '../output.js';

interface ListOptions {
  limit: number;
  topic?: string;
  about?: string;
  all?: boolean;
  json?: boolean;
}

export function deadLettersCommand(): Command {
  const letters = command(
    'dead-letters',
    'messages that could not be handled; a charge that one names waits until someone decides',
  );
  command('list', 'those not yet replayed, newest first', letters)
    .option('--topic <name>', 'of one topic')
    .option('--about <id>', 'about one charge or other subject')
    .option('--all', 'include replayed ones')
    .option('--limit <letters>', 'letters at most', countArgument, 50)
    .action(list);
  command('show', 'one letter with its message and the effect of replaying it', letters)
    .argument('<letter>', 'id of the letter', letterId)
    .action(show);
  command(
    'replay',
    'publish the message of a letter again, once; requests for holds are never replayed',
    letters,
  )
    .argument('<letter>', 'id of the letter', letterId)
    .option(...AS_OPTION)
    .action(replay);
  return letters;
}

function letterId(text: string): bigint {
  if (/^[1-9]\d{0,17}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError(
    'That is not the id of a dead letter; `tollgate dead-letters list` lists them.',
  );
}

async function list({ limit, topic, about, all, ...options }: ListOptions): Promise<void> {
  const filter = { topic, about, replayed: all ? undefined : false };
  const found = await onDatabase((pool) => listLetters(pool, filter, { limit: limit + 1, after: null }));
  const { items, more } = firstItems(found, limit);
  await printList(options, {
    items,
    json: { letters: items.map(view), more },
    more,
    table: {
      Letter: 'id',
      Time: ({ at }) => at.toISOString(),
      Topic: 'topic',
      Group: 'group',
      About: 'about',
      Reason: 'reason',
    },
    none: 'There are no dead letters.',
  });
}

async function show(id: bigint, { json }: { json?: boolean }): Promise<void> {
  const letter = await onDatabase((pool) => findLetter(pool, id));
  if (json) return printJson(view(letter));
  printText(`${letter.topic} for ${letter.group}, ${letter.at.toISOString()}: ${letter.reason}`);
  printText(letter.payload ?? '(no message)');
  printText(`Replay: ${outlookOf(letter).effect}`);
}

async function replay(id: bigint, { json, ...acting }: Acting & { json?: boolean }): Promise<void> {
  const { letter, effect } = await onDatabase(async (pool) => {
    const { by: actor } = await operatorOf(pool, acting, ['admin']);
    const outlook = outlookOf(await findLetter(pool, id));
    return { letter: await replayLetter(pool, id, { actor, requestId: null }), effect: outlook.effect };
  });
  if (json) return printJson(view(letter));
  printText(`The message of letter ${id} goes out again. ${effect}`);
}

function view(letter: StoredLetter) {
  return { ...letter, id: letter.id.toString(), ...outlookOf(letter) };
}
