import pg from 'pg';

/** Rows as `COPY … TO STDOUT` writes them, one after the other. Each ends with a line feed. */
export interface CopiedRows {
  readonly bytes: Buffer;
  /** Where each row ends. */
  readonly ends: readonly number[];
}

const FIRST_BYTES = 65_536;

/** A query that keeps the copied data, which the driver's own query skips. */
class CopyOut extends pg.Query {
  private bytes = Buffer.allocUnsafe(FIRST_BYTES);
  private length = 0;
  private readonly ends: number[] = [];

  /** A row. The bytes belong to the driver, which overwrites them with the next row. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.length + chunk.length > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + chunk.length));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    this.length += chunk.copy(this.bytes, this.length);
    this.ends.push(this.length);
  }

  copied(): CopiedRows {
    return { bytes: this.bytes.subarray(0, this.length), ends: this.ends };
  }
}

/**
 * Reads the rows of a query as COPY's text, several times as fast as rows parsed by the driver. All of them are held in
 * memory. The query is sent unchanged, so nothing in it may come from outside. Throws errors of the database.
 */
export function copyOut(client: pg.ClientBase, query: string): Promise<CopiedRows> {
  return new Promise((resolve, reject) => {
    const copy: CopyOut = new CopyOut(`COPY (${query}) TO STDOUT`, undefined, (error?: Error | null) =>
      error ? reject(error) : resolve(copy.copied()),
    );
    client.query(copy);
  });
}
