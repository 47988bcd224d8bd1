import type { LedgerRule } from './ledger-rule.js';

const EXPECTED_AMOUNT = `coalesce(lines_amount(lines, multiplier), ceil(unit_price * multiplier * units * 1000000000))`;
const EXPECTED_USE = `coalesce(lines_amount(delivered_lines, multiplier),
  ceil(unit_price * multiplier * delivered_units * 1000000000), 0)`;

/** Recomputes each charge from the prices and rules that it names. */
export const recomputeChecks: readonly LedgerRule[] = [
  {
    invariant: 12,
    state: 'charge_recomputed',
    message: 'recomputing a charge gives another amount',
    sql: `SELECT id AS charge_id, amount::text, ${EXPECTED_AMOUNT}::text AS recomputed FROM charges
          WHERE state <> 'refused' AND amount <> ${EXPECTED_AMOUNT}`,
  },
  {
    invariant: 12,
    state: 'settlement_recomputed',
    message: 'recomputing a settlement gives another amount',
    sql: `SELECT id AS charge_id, settled::text, operator_loss::text, ${EXPECTED_USE}::text AS recomputed FROM charges
          WHERE state IN ('settled', 'released')
            AND (settled <> least(amount, ${EXPECTED_USE}) OR operator_loss <> ${EXPECTED_USE} - settled)`,
  },
  {
    invariant: 12,
    state: 'version_not_in_force',
    message: 'a charge was made with a version that was not in force',
    sql: `SELECT c.id AS charge_id, c.unit_price::text, c.multiplier::text, c.rule, c.dimensions FROM charges c
          LEFT JOIN price_versions p ON p.id = c.price_version_id
          LEFT JOIN group_rule_versions r ON r.id = c.group_rule_version_id
          JOIN multiplier_versions m ON m.id = c.multiplier_version_id
          WHERE c.state <> 'refused' AND (
            (c.rule = 'list' AND (
              rated_price(p, coalesce(c.dimensions, '{}') || jsonb_build_object('length', c.units::text))
                IS DISTINCT FROM c.unit_price
              OR (c.lines IS NOT NULL) <> (p.input_price IS NOT NULL)
              OR EXISTS (SELECT FROM jsonb_array_elements(c.lines) AS line WHERE (line ->> 'unitPrice')::numeric * 1000000
                IS DISTINCT FROM token_price(line ->> 'kind', p))
              OR p.effective_from > c.created_at
              OR m.multiplier IS DISTINCT FROM c.multiplier
              OR EXISTS (SELECT FROM price_versions n WHERE n.model_id = p.model_id
                AND n.effective_from > p.effective_from AND n.effective_from <= c.created_at)))
            OR (c.rule = 'fixed_per_call' AND (r.unit_price IS DISTINCT FROM c.unit_price OR r.effective_from > c.created_at))
            OR m.effective_from > c.created_at
            OR EXISTS (SELECT FROM multiplier_versions n WHERE n.group_name = m.group_name
                AND n.effective_from > m.effective_from AND n.effective_from <= c.created_at))`,
  },
];
