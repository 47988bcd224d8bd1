import { List, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { CodeLines } from '../../ui/copy.js';
import { Who } from '../../shell/who.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { Identifier, TextLine } from '../../ui/texts.js';
import { Money } from '../../ui/money.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { When } from '../../ui/time/when.js';
import { TransactionLinks } from '../transaction-links.js';
import { reportProviders } from '../../api/enumerations.js';

/** One line of a provider's report, given as `provider:id`, with its postings and later versions. */
export function LineDetails({ line }: { line: string }) {
  const [name, ...rest] = line.split(':');
  const provider = reportProviders.find((each) => each === name) ?? 'stripe';
  const found = useRead('/api/finance/provider-lines/{provider}/{lineId}', {
    path: { provider, lineId: rest.join(':') },
  });
  return (
    <Loaded query={found} lines={10}>
      {(known) => (
        <Stack>
          <LineFacts line={known} />
          {known.changes.length > 0 && <Changes line={known} />}
        </Stack>
      )}
    </Loaded>
  );
}

function LineFacts({ line }: { line: Shape<'ProviderLine'> }) {
  const { t } = useTranslation('reconciliation');
  const { lineId, type, amount, fee, net, currency, happenedAt, availableOn, description } = line;
  const { subjectId, paymentId, payoutId } = line;
  return (
    <Facts label={t('line.title')}>
      <Fact name={t('line.id')} value={<Identifier>{lineId}</Identifier>} />
      <Fact name={t('line.type')} value={type} />
      <Fact name={t('line.amount')} value={<Money value={amount} currency={currency} />} />
      <Fact name={t('line.fee')} value={<Money value={fee} currency={currency} />} />
      <Fact name={t('line.net')} value={<Money value={net} currency={currency} />} />
      <Fact name={t('line.happenedAt')} value={<When at={happenedAt} />} />
      <Fact name={t('line.availableOn')} value={availableOn} />
      <Fact name={t('line.subject')} value={<Identifier>{subjectId}</Identifier>} />
      {paymentId !== null && <Fact name={t('line.payment')} value={<Identifier>{paymentId}</Identifier>} />}
      {payoutId !== null && <Fact name={t('line.payout')} value={<Identifier>{payoutId}</Identifier>} />}
      {description !== '' && <Fact name={t('line.description')} value={description} />}
      <Bookings line={line} />
    </Facts>
  );
}

/** Its postings, and who accepted it. */
function Bookings({ line: { postings, acceptances } }: { line: Shape<'ProviderLine'> }) {
  const { t } = useTranslation('reconciliation');
  const transactionIds = postings.map(({ transactionId }) => transactionId);
  return (
    <>
      <Fact name={t('line.postings')} value={<TransactionLinks ids={transactionIds} />} />
      {acceptances.map((acceptance) => (
        <Fact
          key={acceptance.recordedAt}
          name={t('line.acceptances')}
          value={<Acceptance acceptance={acceptance} />}
        />
      ))}
    </>
  );
}

function Acceptance({ acceptance }: { acceptance: Shape<'ProviderLine'>['acceptances'][number] }) {
  const { reason, requestedBy, approvedBy, recordedAt } = acceptance;
  return (
    <>
      {reason} · <Who actor={requestedBy} />
      {approvedBy !== null && (
        <>
          {' · '}
          <Who actor={approvedBy} />
        </>
      )}
      {' · '}
      <When at={recordedAt} />
    </>
  );
}

function Changes({ line }: { line: Shape<'ProviderLine'> }) {
  const { t } = useTranslation('reconciliation');
  return (
    <Section title={t('line.changes')}>
      <Text size="sm">{t('line.changesHint')}</Text>
      <List spacing="sm" listStyleType="none">
        {line.changes.map(({ reportId, recordedAt, content }) => (
          <List.Item key={`${reportId} ${recordedAt}`}>
            <TextLine>
              {t('line.report', { id: reportId })} · <When at={recordedAt} />
            </TextLine>
            <CodeLines code={JSON.stringify(content, null, 2)} label={t('line.report', { id: reportId })} />
          </List.Item>
        ))}
      </List>
    </Section>
  );
}
