import type { MailLanguage } from '#identity/language.js';

const english = {
  title: 'Receipt',
  issuer: 'Issued by',
  payment: 'Payment',
  customer: 'Customer',
  account: 'Account',
  number: 'Receipt number',
  paidAt: 'Paid',
  method: 'Payment method',
  methods: { stripe: 'Stripe', manual: 'Bank transfer', sandbox: 'Simulated payment, no money moved' },
  reference: 'Payment reference',
  bought: 'Prepaid credits',
  credits: 'Credits',
  rate: 'Price per credit, all fees included',
  paid: 'Total paid',
  reversals: 'Refunded or withheld since',
  refund: 'Refunded',
  dispute: 'Disputed at your bank',
  note: 'One credit is worth USD 1.00 of list price. Dates are in UTC.',
};

type ReceiptTexts = typeof english;

const chinese: ReceiptTexts = {
  title: '收据',
  issuer: '开具方',
  payment: '付款',
  customer: '客户',
  account: '账户',
  number: '收据编号',
  paidAt: '付款时间',
  method: '付款方式',
  methods: { stripe: 'Stripe', manual: '银行转账', sandbox: '模拟付款，未发生真实资金往来' },
  reference: '付款编号',
  bought: '预付额度',
  credits: '额度',
  rate: '每额度价格，含全部费用',
  paid: '实付金额',
  reversals: '此后退还或暂扣',
  refund: '已退还',
  dispute: '您的银行提出争议',
  note: '1 额度相当于按目录价计 1 美元的用量。日期均为 UTC。',
};

export const receiptTexts: Record<MailLanguage, ReceiptTexts> = { en: english, zh: chinese };
