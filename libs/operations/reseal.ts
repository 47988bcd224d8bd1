import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { OperatorError } from '#platform/errors.js';
import { isSealed, placeOf, type SecretBox } from '#platform/sealed-secret.js';

/** The secrets in the database: where they are, and how to read and write the texts of a row. */
const KINDS = {
  channels: {
    place: placeOf.channel,
    table: 'channels',
    read: 'ARRAY[webhook_secret, api_key] || further_api_keys',
    write: 'webhook_secret = ($2::text[])[1], api_key = ($2::text[])[2], further_api_keys = ($2::text[])[3:]',
  },
  webhooks: {
    place: placeOf.webhook,
    table: 'webhook_endpoints',
    read: 'ARRAY[secret, previous_secret]',
    write: 'secret = ($2::text[])[1], previous_secret = ($2::text[])[2]',
  },
  oneTimeCodes: {
    place: placeOf.oneTimeCodes,
    table: 'users',
    read: 'ARRAY[totp_secret]',
    write: 'totp_secret = ($2::text[])[1]',
  },
} as const;

type Kind = keyof typeof KINDS;

/** Resealed rows, by kind, and texts that none of our keys opens, which stay as they are. */
export interface Resealed extends Record<Kind, number> {
  readonly unreadable: string[];
}

const PAGE = 500;

/**
 * Seals every secret that is plain, or sealed under another key than the first. It locks one row at a time, so that
 * programs may read and change secrets meanwhile. If interrupted, it continues where it stopped.
 */
export async function resealSecrets(
  pool: pg.Pool,
  secrets: SecretBox,
  onProgress: (rows: number) => void = () => undefined,
): Promise<Resealed> {
  const done = { channels: 0, webhooks: 0, oneTimeCodes: 0, unreadable: [] as string[] };
  let seen = 0;
  for (const kind of Object.keys(KINDS) as Kind[]) {
    for await (const id of outdatedRows(pool, kind, secrets)) {
      const fault = await resealRow(pool, kind, { id, secrets });
      if (fault === null) done[kind] += 1;
      else done.unreadable.push(fault);
      onProgress((seen += 1));
    }
  }
  return done;
}

/** @throws OperatorError if something could not be opened */
export function refuseUnreadable({ unreadable }: Resealed): void {
  const [first] = unreadable;
  if (first === undefined) return;
  const more = unreadable.length > 1 ? ` The same holds for ${unreadable.length - 1} more.` : '';
  throw new OperatorError(`${first}${more}`);
}

async function* outdatedRows(pool: pg.Pool, kind: Kind, secrets: SecretBox): AsyncGenerator<string> {
  const { table, read } = KINDS[kind];
  for (let after = ''; ;) {
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE id > $1
         AND EXISTS (SELECT FROM unnest(${read}) AS s WHERE NOT starts_with(s, $2)) ORDER BY id LIMIT $3`,
      [after, secrets.currentPrefix(), PAGE],
    );
    for (const { id } of rows) yield id;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

/** @returns what is wrong with a text that cannot be opened. The others in its row are sealed again. */
async function resealRow(
  pool: pg.Pool,
  kind: Kind,
  { id, secrets }: { id: string; secrets: SecretBox },
): Promise<string | null> {
  const { table, read, write, place } = KINDS[kind];
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ texts: (string | null)[] }>(
      `SELECT ${read} AS texts FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`,
      [id],
    );
    let fault: string | null = null;
    const texts = (rows[0]?.texts ?? []).map((text) => {
      try {
        return text && resealed(text, place(id), secrets);
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        fault ??= error.message;
        return text;
      }
    });
    await client.query(`UPDATE ${table} SET ${write} WHERE id = $1`, [id, texts]);
    return fault;
  });
}

function resealed(text: string, place: string, secrets: SecretBox): string {
  return isSealed(text) && secrets.isCurrent(text) ? text : secrets.seal(secrets.open(text, place), place);
}
