import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { exactDecimal, multiplyDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { useLabelled } from '../../ui/texts.js';
import { BothPrices, Money } from '../../ui/money.js';
import { ReceiptCard } from '../../ui/lists/receipt-card.js';
import { Loaded } from '../../ui/states.js';
import { WishFields } from './calculator-fields.js';
import { isByTokens, isWhole, MOST_CALLS, wishFor, wishedWork } from './calculator-work.js';
import { offerOf } from './market.js';
import { useOwnGroups } from './price.js';
import {
  isVerified,
  linesOfQuote,
  type PricedWork,
  type PublicQuote,
  usePublicQuote,
} from './public-quote.js';

const TYPING_PAUSE_MS = 300;

/** Multiplies the relay's price of one call. `children` are fields above its own. */
export function Calculator({ model, children }: { model: Shape<'ListedModel'>; children?: ReactNode }) {
  const { t } = useTranslation('models');
  const [wish, setWish] = useState(() => wishFor(model));
  const offer = offerOf(model, useOwnGroups());
  const work = offer && isWhole(wish.calls, MOST_CALLS) ? wishedWork(model, offer.group, wish) : null;
  if (offer === null) return <Text size="sm">{t('calculator.notYours')}</Text>;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
      <Stack gap="sm">
        {children}
        <WishFields
          model={model}
          price={offer.price}
          wish={wish}
          set={(change) => setWish({ ...wish, ...change })}
        />
      </Stack>
      {work === null ? (
        <Text size="sm">{t('calculator.incomplete')}</Text>
      ) : (
        <Estimate model={model} work={work} calls={Number(wish.calls)} />
      )}
    </SimpleGrid>
  );
}

interface EstimateProps {
  model: Shape<'ListedModel'>;
  work: PricedWork;
  calls: number;
}

function Estimate({ model, work, calls }: EstimateProps) {
  const wanted = JSON.stringify(work);
  const [asked] = useDebouncedValue(wanted, TYPING_PAUSE_MS);
  const quote = usePublicQuote(JSON.parse(asked) as PricedWork);
  const isCurrent = asked === wanted && !quote.isPlaceholderData;
  return (
    <Loaded query={quote} lines={5}>
      {(found) => (
        <Stack role="status" aria-busy={!isCurrent}>
          <EstimateReceipt model={model} quote={found} calls={calls} />
        </Stack>
      )}
    </Loaded>
  );
}

interface EstimateReceiptProps {
  model: Shape<'ListedModel'>;
  quote: PublicQuote;
  calls: number;
}

function EstimateReceipt({ model, quote, calls }: EstimateReceiptProps) {
  const { t } = useTranslation('models');
  const locale = useLocale();
  const lines = useWorkLines(quote, model);
  const { family } = model;
  const one = <BothPrices value={quote.amount} />;
  const each = { name: 'each', what: t(`calculator.each.${family}`), amount: one };
  const total = {
    name: 'total',
    what: t(`calculator.all.${family}`, { count: calls, calls: calls.toLocaleString(locale) }),
    amount: <BothPrices value={multiplyDecimal(quote.amount, calls)} />,
    isTotal: true,
  };
  return (
    <ReceiptCard
      label={t('calculator.result')}
      title={model.id}
      about={t('calculator.inGroup', { group: quote.group })}
      lines={[...lines, ...(lines.length > 1 && calls > 1 ? [each] : []), total]}
      stamp={isVerified(quote) && t(isEstimated(model) ? 'calculator.most' : 'calculator.verified')}
    />
  );
}

/** The tokens of an image are known only once it exists. */
function isEstimated(model: Shape<'ListedModel'>): boolean {
  return model.unit === 'million_tokens' && !isByTokens(model);
}

/** Units × unit price × multiplier; unused units have no line. */
function useWorkLines(quote: PublicQuote, { unit, family }: Shape<'ListedModel'>) {
  const { t } = useTranslation('models');
  const { t: ofMarket } = useTranslation('visitor');
  const labelled = useLabelled();
  const locale = useLocale();
  const unitsOf = (kind: LineKind | null, count: string) => {
    const units = { count: Number(count), calls: exactDecimal(count, locale) };
    if (kind !== null) return labelled(ofMarket(`market.tokens.${nameOfLine(kind)}`), units.calls);
    return unit === 'second' ? t('calculator.ofSeconds', units) : t(`calculator.all.${family}`, units);
  };
  return linesOfQuote(quote)
    .filter(({ units }) => units !== '0')
    .map(({ kind, units, unitPrice, amount }) => ({
      name: kind ?? 'work',
      what: [
        unitsOf(kind, units),
        exactDecimal(unitPrice, locale),
        exactDecimal(quote.multiplier, locale),
      ].join(' × '),
      amount: <Money value={amount} />,
    }));
}

type LineKind = NonNullable<PublicQuote['lines']>[number]['kind'];
type Camel<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text;

/** Lines use the ledger's snake_case names, prices camelCase. */
function nameOfLine<Kind extends LineKind>(kind: Kind): Camel<Kind> {
  return kind.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as Camel<Kind>;
}
