import { expect, it } from 'vitest';
import type { EachBatchPayload, Offsets } from 'kafkajs';
import { once, EventEmitter } from 'node:events';
import { OffsetCommits } from './offset.commits.js';

type Sent = [partition: number, offset: string][];

/** A coordinator that answers when the test says so. */
class Coordinator {
  readonly sent: Sent[] = [];
  private readonly events = new EventEmitter();
  private answer: ((error?: Error) => void) | undefined;

  payloadOf(partition: number): EachBatchPayload {
    const commitOffsetsIfNecessary = ({ topics }: Offsets) =>
      new Promise<void>((resolve, reject) => {
        this.sent.push(
          topics.flatMap(({ partitions }) =>
            partitions.map((each): Sent[0] => [each.partition, each.offset]),
          ),
        );
        this.answer = (error) => (error ? reject(error) : resolve());
        this.events.emit('asked');
      });
    return { batch: { topic: 'told', partition }, commitOffsetsIfNecessary } as unknown as EachBatchPayload;
  }

  async asked(): Promise<void> {
    if (!this.answer) await once(this.events, 'asked');
  }

  async answers(error?: Error): Promise<void> {
    await this.asked();
    const { answer } = this;
    this.answer = undefined;
    answer?.(error);
  }
}

const open = () => new OffsetCommits({ initialMs: 1, maxMs: 1 });

it('commits the last offset of each partition that came while another commit was in progress', async () => {
  const coordinator = new Coordinator();
  const commits = open();
  const add = (partition: number, offset: string) =>
    commits.add({ payload: coordinator.payloadOf(partition), offset });
  add(0, '1');
  add(0, '2');
  add(1, '7');
  add(0, '3');
  const flushed = commits.flush();
  await coordinator.answers();
  await coordinator.answers();
  await flushed;
  expect(coordinator.sent).toEqual([
    [[0, '1']],
    [
      [0, '3'],
      [1, '7'],
    ],
  ]);
});

it('retries what was refused, unless more was handled since', async () => {
  const coordinator = new Coordinator();
  const commits = open();
  commits.add({ payload: coordinator.payloadOf(0), offset: '1' });
  commits.add({ payload: coordinator.payloadOf(1), offset: '5' });
  await coordinator.answers();
  commits.add({ payload: coordinator.payloadOf(0), offset: '2' });
  await coordinator.answers(new Error('rebalancing'));
  await coordinator.answers();
  await commits.flush();
  expect(coordinator.sent.at(-1)).toEqual(expect.arrayContaining([[1, '5']]));
});

it('reports a refusal once, unless a later commit has overtaken it', async () => {
  const coordinator = new Coordinator();
  const commits = open();
  commits.add({ payload: coordinator.payloadOf(0), offset: '1' });
  await coordinator.answers(new Error('rebalancing'));
  await coordinator.asked();
  expect(() => commits.check()).toThrow('rebalancing');
  expect(() => commits.check()).not.toThrow();
  await coordinator.answers(new Error('rebalancing'));
  await coordinator.answers();
  await commits.flush();
  expect(() => commits.check()).not.toThrow();
});

it('forgets what the group will receive again', async () => {
  const coordinator = new Coordinator();
  const commits = open();
  commits.add({ payload: coordinator.payloadOf(0), offset: '1' });
  commits.add({ payload: coordinator.payloadOf(0), offset: '2' });
  commits.forget();
  await coordinator.answers(new Error('of another generation'));
  await commits.flush();
  expect(coordinator.sent).toEqual([[[0, '1']]]);
  expect(() => commits.check()).not.toThrow();
});

it('commits what came while another commit was in progress, before it leaves', async () => {
  const coordinator = new Coordinator();
  const commits = open();
  commits.add({ payload: coordinator.payloadOf(0), offset: '1' });
  commits.add({ payload: coordinator.payloadOf(0), offset: '2' });
  const flushed = commits.flush();
  await coordinator.answers();
  await coordinator.answers();
  await flushed;
  expect(coordinator.sent).toEqual([[[0, '1']], [[0, '2']]]);
});

it('leaves even if the broker refuses the last commit', async () => {
  const coordinator = new Coordinator();
  const commits = open();
  commits.add({ payload: coordinator.payloadOf(0), offset: '1' });
  const flushed = commits.flush();
  await coordinator.answers(new Error('away'));
  await flushed;
  expect(coordinator.sent).toHaveLength(1);
});

it('retries at once what was refused, when it leaves', async () => {
  const coordinator = new Coordinator();
  const commits = new OffsetCommits({ initialMs: 3_600_000, maxMs: 3_600_000 });
  commits.add({ payload: coordinator.payloadOf(0), offset: '1' });
  await coordinator.answers(new Error('away'));
  // By now it is waiting for its next attempt.
  await new Promise((resolve) => setImmediate(resolve));
  const flushed = commits.flush();
  await coordinator.answers();
  await flushed;
  expect(coordinator.sent).toHaveLength(2);
});
