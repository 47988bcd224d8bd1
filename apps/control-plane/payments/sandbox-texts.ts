import type { MailLanguage } from '#identity/language.js';

const english = {
  tag: 'en',
  title: 'Sandbox payment',
  states: {
    open: 'Not paid yet',
    paid: 'Paid',
    expired: 'Expired',
    cancelled: 'Cancelled',
    refunded: 'Refunded',
    disputed: 'Disputed',
  },
  number: 'Number',
  date: 'Date',
  account: 'Account',
  description: 'Description',
  amount: 'Amount',
  total: 'Total',
  credits: (amount: string) => `${amount} credits`,
  rate: (price: string) => `1 credit = ${price}, all fees included`,
  pay: 'Pay',
  cancel: 'Cancel',
  back: 'Back to the console',
  note: 'Simulated payment for testing. No money moves.',
};

export type SandboxTexts = typeof english;

const chinese: SandboxTexts = {
  tag: 'zh-Hans',
  title: '沙盒支付',
  states: {
    open: '待支付',
    paid: '已支付',
    expired: '已过期',
    cancelled: '已取消',
    refunded: '已退款',
    disputed: '有争议',
  },
  number: '订单号',
  date: '日期',
  account: '账户',
  description: '项目',
  amount: '金额',
  total: '合计',
  credits: (amount) => `${amount} 额度`,
  rate: (price) => `1 额度 = ${price}，含全部费用`,
  pay: '支付',
  cancel: '取消',
  back: '返回控制台',
  note: '模拟付款，仅供测试，不会产生真实扣款。',
};

export const sandboxTexts: Record<MailLanguage, SandboxTexts> = { en: english, zh: chinese };
