import { useTranslation } from 'react-i18next';
import { api, refresh } from '../../api/client.js';
import { choiceField, tickField } from '../../ui/forms/choice-fields.js';
import type { Field } from '../../ui/forms/field.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { amountField, textField } from '../../ui/forms/text-fields.js';
import { mediaTokenNames } from '../../api/token-names.js';
import { useNote } from '../note.js';

const units = ['unit', 'tokens', 'withdrawn'] as const;
const DECIMAL = /^\d{1,12}(\.\d{1,18})?$/;

const OF_TOKENS = ['input', 'cachedInput', 'output', ...mediaTokenNames] as const;
const HIDDEN = {
  unit: OF_TOKENS,
  tokens: ['unitCost'],
  withdrawn: ['unitCost', ...OF_TOKENS],
} as const;

type MediaFields = Record<(typeof mediaTokenNames)[number], Field<string>>;

function useFields() {
  const { t } = useTranslation('costs');
  const missing = t('set.missing');
  const rule = [DECIMAL, t('set.amountWrong')] as const;
  const ofTokens = (kind: (typeof OF_TOKENS)[number]) =>
    amountField(t(`tokens.${kind}`), { hint: t('set.millionHint'), rule });
  const ofMedia = (kind: (typeof mediaTokenNames)[number]) =>
    amountField(t(`tokens.${kind}`), { hint: t('set.mediaHint'), rule, isOptional: true, isHalf: true });
  return {
    channel: textField(t('columns.channel'), { missing }),
    model: textField(t('columns.model'), { missing }),
    by: choiceField(t('set.by'), { of: units, name: (unit) => t(`set.units.${unit}`) }),
    unitCost: amountField(t('set.unitCost'), { hint: t('set.unitCostHint'), rule }),
    input: ofTokens('input'),
    cachedInput: ofTokens('cachedInput'),
    output: ofTokens('output'),
    ...(Object.fromEntries(mediaTokenNames.map((name) => [name, ofMedia(name)])) as MediaFields),
    billsFailures: tickField(t('set.billsFailures')),
    note: useNote(),
  };
}

/** Applies to charges that end from now on, and to earlier ones whose cost is still unknown. */
export function SetCost() {
  const { t } = useTranslation('costs');
  return (
    <ModalForm
      texts={t('set')}
      fields={useFields()}
      hidden={({ by }) => HIDDEN[by]}
      send={(values, requestId) => {
        const { channel, model, by, unitCost, billsFailures, note } = values;
        const cost = { unit: { unitCost }, tokens: costOfTokens(values), withdrawn: null }[by];
        return api.POST('/api/finance/upstream-costs', {
          body: { channel, model, cost, billsFailures, effectiveFrom: null, reason: note, requestId },
        });
      }}
      reread={() => refresh('/api/finance/upstream-costs', '/api/finance/reports/revenue')}
      success={() => t('set.done')}
    />
  );
}

/** Image and audio tokens without an amount cost the same as text. */
function costOfTokens(values: Record<(typeof OF_TOKENS)[number], string>) {
  const { input, cachedInput, output } = values;
  const media = mediaTokenNames.map((name) => [name, values[name]] as const).filter(([, usd]) => usd !== '');
  return { input, cachedInput, output, ...Object.fromEntries(media) };
}
