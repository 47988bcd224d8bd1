import type { MailLanguage } from '#identity/language.js';

interface StatementTexts {
  readonly title: (month: string) => string;
  readonly account: string;
  readonly key: string;
  readonly upTo: string;
  readonly credits: string;
  readonly opening: string;
  readonly closing: string;
  readonly charges: string;
  readonly noModel: string;
  /** For postings that change an account's credits. Holds and releases only move them. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly otherKind: string;
  /** Charges of each key less their refunds. */
  readonly byKey: string;
  readonly requests: (count: number) => string;
  readonly noKey: string;
  readonly otherKeys: string;
  readonly noCharges: string;
  readonly total: string;
  readonly money: string;
  readonly paid: string;
  readonly refunded: string;
  readonly disputed: string;
  readonly dispute_won: string;
  readonly nothing: string;
  readonly note: string;
  readonly keyNote: string;
}

export const monthlyTexts: Record<MailLanguage, StatementTexts> = {
  en: {
    title: (month) => `Monthly statement, ${month}`,
    account: 'Account',
    key: 'Key',
    upTo: 'Includes everything recorded before',
    credits: 'Credits',
    opening: 'Opening balance',
    closing: 'Closing balance',
    charges: 'Charged',
    noModel: 'other work',
    kinds: {
      topup: 'Top-ups',
      charge_refund: 'Refunded charges',
      'invite-transfer': 'Invite rewards transferred',
      'topup-refunded': 'Refunded top-ups',
      chargeback: 'Disputed payments',
      'chargeback-won': 'Disputes won',
      adjustment: 'Adjustments',
      'adjustment-reversed': 'Adjustments reversed',
      'write-off': 'Debt written off',
      'write-off-reversed': 'Write-offs reversed',
      'reward-clawback': 'Invite rewards withdrawn',
      'reward-returned': 'Invite rewards returned',
      forfeited: 'Credits forfeited',
    },
    otherKind: 'Other',
    byKey: 'Charges by key, less refunds',
    requests: (count) => (count === 1 ? '1 request' : `${count} requests`),
    noKey: 'No key',
    otherKeys: 'Other keys',
    noCharges: 'Charges',
    total: 'Total',
    money: 'Money',
    paid: 'Paid for top-ups',
    refunded: 'Refunded to you',
    disputed: 'Taken back by your bank',
    dispute_won: 'Disputes won',
    nothing: 'None',
    note: 'The balance includes credits that are held or being refunded. One credit is worth USD 1.00 of list price. The month is in UTC.',
    keyNote:
      'Charges and refunds of one key. Top-ups and balances belong to the account. One credit is worth USD 1.00 of list price. The month is in UTC.',
  },
  zh: {
    title: (month) => `月度对账单 ${month}`,
    account: '账户',
    key: '密钥',
    upTo: '数据截至',
    credits: '额度',
    opening: '期初余额',
    closing: '期末余额',
    charges: '已扣费',
    noModel: '其他',
    kinds: {
      topup: '充值',
      charge_refund: '扣费退还',
      'invite-transfer': '邀请奖励转入',
      'topup-refunded': '充值退还',
      chargeback: '付款争议',
      'chargeback-won': '争议胜诉返还',
      adjustment: '调整',
      'adjustment-reversed': '调整撤销',
      'write-off': '欠款核销',
      'write-off-reversed': '核销撤销',
      'reward-clawback': '邀请奖励收回',
      'reward-returned': '邀请奖励返还',
      forfeited: '额度作废',
    },
    otherKind: '其他变动',
    byKey: '各密钥扣费净额',
    requests: (count) => `${count} 次请求`,
    noKey: '无密钥',
    otherKeys: '其他密钥',
    noCharges: '扣费',
    total: '合计',
    money: '资金',
    paid: '充值付款',
    refunded: '退还给您',
    disputed: '银行因争议收回',
    dispute_won: '争议胜诉返还',
    nothing: '无',
    note: '余额包含预扣中和退还中的额度。1 额度相当于按目录价计 1 美元的用量。月份按 UTC 计。',
    keyNote:
      '仅含一个密钥的扣费与退还；充值和余额属于整个账户。1 额度相当于按目录价计 1 美元的用量。月份按 UTC 计。',
  },
};
