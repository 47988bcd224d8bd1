import { useEffect, useRef } from 'react';
import { sessionChanged } from './session.js';

const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const EVENTS = ['task', 'balance'] as const;

/** What `/api/live` reports as changed. Whatever shows it reads it again. */
type LiveEvent = (typeof EVENTS)[number];
type Listener = (event: LiveEvent, data: unknown) => void;

/** One connection for all components, open while any of them listens. */
class LiveConnection {
  private readonly listeners = new Set<Listener>();
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pauseMs = SHORTEST_PAUSE_MS;

  add(listener: Listener): void {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.open();
  }

  remove(listener: Listener): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  private open(): void {
    const source = new EventSource('/api/live');
    this.source = source;
    source.onopen = () => (this.pauseMs = SHORTEST_PAUSE_MS);
    for (const event of EVENTS)
      source.addEventListener(event, (message: MessageEvent<string>) => this.tell(event, message.data));
    source.addEventListener('end', ({ data }: MessageEvent<string>) => {
      const { reason } = JSON.parse(data) as { reason: string };
      // If the relay is away, the next read of the page will notice.
      if (reason === 'session_ended') void sessionChanged().catch(() => undefined);
    });
    // Browsers reconnect after a break, but not after an error response.
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) this.openLater();
    };
  }

  /** With jitter and backoff, so that not all pages reconnect at once. */
  private openLater(): void {
    const pauseMs = this.pauseMs * (0.5 + Math.random());
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
    this.timer = setTimeout(() => this.open(), pauseMs);
  }

  private tell(event: LiveEvent, text: string): void {
    const data = JSON.parse(text) as unknown;
    for (const listener of this.listeners) listener(event, data);
  }
}

const connection = new LiveConnection();

/** Listens to changes while the component is mounted. The listener may change on every render. */
export function useLive(listener: Listener): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => {
    const hear: Listener = (event, data) => latest.current(event, data);
    connection.add(hear);
    return () => connection.remove(hear);
  }, []);
}
