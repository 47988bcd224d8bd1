import { useCallback, useRef } from 'react';
import { type GetAnswer, newRequestId, refresh, type Shape } from '../../api/client.js';
import type { Tone } from '../../ui/status-badge.js';

export type TopUpQuote = GetAnswer<'/api/topups/quote'>;
export type Provider = Shape<'Order'>['provider'];

export const orderTones: Record<Shape<'Order'>['state'], Tone> = {
  open: 'waiting',
  paid: 'good',
  expired: 'quiet',
  cancelled: 'quiet',
  refunded: 'quiet',
  disputed: 'bad',
};

/** Rereads what orders, payments and transfers change. */
export function refreshMoney(): Promise<void> {
  return refresh(
    '/api/account',
    '/api/overview',
    '/api/topups',
    '/api/topups/{orderId}',
    '/api/statement',
    '/api/invites',
  );
}

/**
 * Names of requests that are done once: the same content keeps its name however often it is sent, other content gets another.
 * Forget it when the request was done, so that the same may be asked for again.
 */
export function useRequestName(): { of: (content: string) => string; forget: () => void } {
  const named = useRef<{ content: string; name: string } | null>(null);
  const of = useCallback((content: string) => {
    if (named.current?.content !== content) named.current = { content, name: newRequestId() };
    return named.current.name;
  }, []);
  const forget = useCallback(() => {
    named.current = null;
  }, []);
  return { of, forget };
}
