/** One server-sent event, with its data as JSON. */
export interface StreamedEvent {
  event: string;
  data: Record<string, unknown>;
}

/** Reads the server-sent events of an answer as they arrive. */
export class EventStream {
  readonly events: StreamedEvent[] = [];
  /** Lines that are not events: comments and reconnection times. */
  readonly rest: string[] = [];
  readonly ended: Promise<void>;
  isEnded = false;

  private constructor(
    readonly response: Response,
    private readonly leaving: AbortController,
  ) {
    this.ended = this.read()
      .catch(() => undefined)
      .finally(() => (this.isEnded = true));
  }

  static async open(url: string, headers: Record<string, string>): Promise<EventStream> {
    const leaving = new AbortController();
    return new EventStream(await fetch(url, { headers, signal: leaving.signal }), leaving);
  }

  /** The data of every event with this name. */
  of(event: string): Record<string, unknown>[] {
    return this.events.filter((each) => each.event === event).map(({ data }) => data);
  }

  async close(): Promise<void> {
    this.leaving.abort();
    await this.ended;
  }

  private async read(): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of this.response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.take(block);
    }
  }

  private take(block: string): void {
    const event = /^event: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (event !== undefined && data !== undefined)
      this.events.push({ event, data: JSON.parse(data) as StreamedEvent['data'] });
    else this.rest.push(block);
  }
}
