import type { ISocketFactory } from 'kafkajs';
import { Socket } from 'node:net';

/**
 * Longer than brokers take to notice that one of them is gone (9 s), during which a confirmation may keep the others
 * waiting, and than a group waits for a member that died (10 s).
 */
const ANSWER_LIMIT_MS = 12_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * A connection that breaks when what was written is not answered. kafkajs 2.2.4 fails the request alone and keeps the
 * connection, so that it asks a broker that keeps silent again and again, for minutes after another took its place.
 */
export class AnsweredSocket extends Socket {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limitMs = ANSWER_LIMIT_MS) {
    super();
    this.on('data', () => this.forget());
    this.once('close', () => this.forget());
  }

  override _write(...args: Parameters<Socket['_write']>): void {
    this.expectAnswer();
    super._write(...args);
  }

  override _writev(...args: Parameters<NonNullable<Socket['_writev']>>): void {
    this.expectAnswer();
    super._writev?.(...args);
  }

  private expectAnswer(): void {
    this.timer ??= setTimeout(() => this.giveUp(), this.limitMs);
  }

  private forget(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private giveUp(): void {
    this.destroy(new Error(`no answer within ${this.limitMs} ms`));
  }
}

/** Connects as kafkajs wants it. */
export const answeredSocket: ISocketFactory = ({ host, port, onConnect }) =>
  new AnsweredSocket().connect({ host, port }, onConnect).setKeepAlive(true, KEEP_ALIVE_MS);
