import { useCallback, useRef } from 'react';
import { newRequestId, refresh, type Answer, type Item } from '../../api/queries.js';
import type { Tone } from '../../ui/status-badge.js';

export type Order = Item<'/api/topups'>;
export type OrderDetails = Answer<'/api/topups/{orderId}'>;
export type Quote = Answer<'/api/topups/quote'>;
export type Provider = Order['provider'];
export type StatementLine = Item<'/api/statement'>;

/** What the server reads as an amount of balance, and of payment currency. */
export const CREDITS = /^\d{1,9}(\.\d{1,9})?$/;
export const PAYMENT = /^\d{1,6}(\.\d{1,2})?$/;

export const orderTones: Record<Order['state'], Tone> = {
  open: 'waiting',
  paid: 'good',
  expired: 'quiet',
  cancelled: 'quiet',
  refunded: 'quiet',
  disputed: 'bad',
};

/** What an order, its payment or a move of balance changes. */
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
