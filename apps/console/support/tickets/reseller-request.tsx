import { Card, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, newRequestId, type Shape } from '../../api/client.js';
import { mayAny, useSession } from '../../shell/session.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { Hint } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { RateInForce } from '../accounts/rate-in-force.js';
import { Volume } from '../accounts/volume.js';
import { takeTicket } from './ticket.js';

interface ResellerRequestProps {
  ticket: Shape<'StaffTicket'>;
  reseller: NonNullable<Shape<'StaffTicket'>['reseller']>;
}

/** The facts about a request for the reseller rate, and a button to grant it. */
export function ResellerRequest({ ticket, reseller }: ResellerRequestProps) {
  const { t } = useTranslation('support');
  const isAdmin = mayAny(useSession(), ['admin']);
  const { verifiedTokens, thresholdTokens, isEligible, rate } = reseller;
  const isGranted = ticket.outcome === 'rate_granted';
  return (
    <Card withBorder component="section" aria-label={t('reseller.title')}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Text fw={600}>{t('reseller.title')}</Text>
          <StatusBadge tone={isEligible ? 'good' : 'bad'}>
            {isEligible ? t('reseller.eligible') : t('reseller.notEligible')}
          </StatusBadge>
        </Group>
        <Volume verified={verifiedTokens} threshold={thresholdTokens} />
        <RateInForce rate={rate} />
        {!isGranted && isAdmin && <Grant ticket={ticket} isEligible={isEligible} />}
        {!isGranted && !isAdmin && <Hint>{t('reseller.byAdmin')}</Hint>}
      </Stack>
    </Card>
  );
}

function Grant({ ticket, isEligible }: { ticket: Shape<'StaffTicket'>; isEligible: boolean }) {
  const { t } = useTranslation('support');
  const [requestId] = useState(newRequestId);
  const grant = async () => {
    const params = { path: { ticketId: ticket.id } };
    const { data } = await api.POST('/api/admin/tickets/{ticketId}/reseller-rate', {
      params,
      body: { requestId },
    });
    await takeTicket(data);
  };
  return (
    <ConfirmAction
      texts={t('reseller.grant')}
      isDangerous={false}
      disabled={!isEligible || ticket.state === 'closed'}
      w="fit-content"
      act={grant}
    />
  );
}
