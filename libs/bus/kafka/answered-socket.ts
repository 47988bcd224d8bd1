import type { ISocketFactory } from 'kafkajs';
import { Socket } from 'node:net';

/**
 * Longer than brokers take to notice that one of them is gone (9 s), while acknowledgements may be delayed, and longer than
 * a group waits for a dead member (10 s).
 */
const ANSWER_LIMIT_MS = 12_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * A connection that closes when a request is not answered in time. kafkajs 2.2.4 only fails the request and keeps the
 * connection, so it goes on asking a silent broker for minutes after another has taken its place.
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

/** A socket factory with kafkajs's signature. */
export const answeredSocket: ISocketFactory = ({ host, port, onConnect }) =>
  new AnsweredSocket().connect({ host, port }, onConnect).setKeepAlive(true, KEEP_ALIVE_MS);
