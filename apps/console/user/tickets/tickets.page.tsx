import { Group } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { OwnOnly } from '../../shell/own-only.js';
import { Choices, optionsOf } from '../../ui/lists/choice.js';
import { column, menuColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { isNarrowed } from '../../ui/search.js';
import { TicketBadge } from './ticket-state.js';
import { ticketTypes, ticketStages } from '../../api/enumerations.js';

const PAGE = 25;

export default function TicketsPage() {
  const { t } = useTranslation('tickets');
  const { cursor: _, ...filter } = useSearch({ from: '/user/tickets' });
  return (
    <PageFrame title={t('list.title')} about={t('list.about')} actions={<OpenTicket />}>
      <TicketFilters />
      <DataList
        label={t('list.label')}
        query={useList('/api/tickets', { query: { ...filter, limit: PAGE } })}
        columns={useColumns()}
        empty={isNarrowed(filter) ? t('list.noMatch') : t('list.empty')}
      />
    </PageFrame>
  );
}

function OpenTicket() {
  const { t } = useTranslation('tickets');
  return (
    <OwnOnly>
      <ButtonLink to="/tickets/new">{t('list.open')}</ButtonLink>
    </OwnOnly>
  );
}

function TicketFilters() {
  const { t } = useTranslation('tickets');
  const states = optionsOf(ticketStages, t('states'));
  const kinds = optionsOf(ticketTypes, t('kinds'));
  return (
    <Group gap="sm">
      <Choices
        of={[
          { param: 'state', label: t('list.state'), options: states },
          { param: 'kind', label: t('list.kind'), options: kinds },
        ]}
        width="14rem"
      />
    </Group>
  );
}

function useColumns(): ListColumn<Shape<'Ticket'>>[] {
  const { t } = useTranslation('tickets');
  return [
    column('subject', t('list.subject'), ({ id, subject }) => (
      <TextLink to="/tickets/$ticketId" params={{ ticketId: id }} className="model-name">
        {subject}
      </TextLink>
    )),
    column('kind', t('list.kind'), ({ kind }) => t(`kinds.${kind}`)),
    column('state', t('list.state'), (ticket) => <TicketBadge ticket={ticket} />),
    timeColumn('updatedAt', t('list.updated')),
    menuColumn(({ id }) => [{ copy: id }]),
  ];
}
