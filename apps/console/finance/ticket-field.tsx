import type { SelectProps } from '@mantine/core';
import { useState } from 'react';
import { type Shape, useRead } from '../api/client.js';
import { useName } from '../api/names.js';
import { foundField, type FoundOptions, SearchSelect, useSearchWords } from './search-select.js';

/** Finds a ticket by its subject, id or customer. */
export function ticketField(label: string, options: FoundOptions) {
  return foundField(TicketSelect, label, options);
}

function TicketSelect({ value = null, onChange, ...select }: Omit<SelectProps, 'data'>) {
  const typed = useSearchWords();
  const [subject, setSubject] = useState<string | null>(null);
  const params = { query: { query: typed.query } };
  const search = useRead('/api/finance/tickets', params, { enabled: typed.isEnough });
  const found = (search.data?.items ?? []).map(optionOf);
  const choose: SelectProps['onChange'] = (id, option) => {
    setSubject(option?.label ?? null);
    onChange?.(id, option);
  };
  return (
    <SearchSelect
      typed={typed}
      search={search}
      found={found}
      chosenName={subject}
      what="ticket"
      value={value}
      onChange={choose}
      {...select}
    />
  );
}

function optionOf(ticket: Shape<'FoundTicket'>) {
  const { ticketId, subject } = ticket;
  return { value: ticketId, label: subject || ticketId, second: <OfCustomer {...ticket} /> };
}

function OfCustomer({ accountId, ticketId }: Pick<Shape<'FoundTicket'>, 'accountId' | 'ticketId'>) {
  return `${useName('account', accountId) ?? accountId} · ${ticketId}`;
}
