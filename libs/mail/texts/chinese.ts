import type { SecurityNotice } from '../mail.outbox.js';
import { minuteOf } from '#platform/times.js';
import { lifeOf, type MailTexts, wordsOf } from './mail-texts.js';

const NOTICES: Record<SecurityNotice, string> = {
  'password.changed': '您的账户密码已更改，其他登录会话均已退出。',
  'totp.enabled': '您的账户已开启两步验证。',
  'totp.codes_renewed': '您的账户已生成新的恢复码，旧恢复码不再有效。',
  'totp.disabled': '您的账户已关闭两步验证。',
};

const SOMETHING = '您账户的登录设置已变更。';

const ACCESS_CHANGED = '您的 Tollgate 登录设置已变更';

function validFor(ms: number): string {
  const { count, unit } = lifeOf(ms);
  return `链接只能使用一次，${count} ${unit === 'hour' ? '小时' : '分钟'}后失效。`;
}

export const chineseMail: MailTexts = {
  signUp: ({ url, lifeMs }) => ({
    subject: '完成 Tollgate 注册',
    paragraphs: ['设置密码，即可创建您的账户。'],
    button: { label: '创建账户', url },
    notes: [validFor(lifeMs), '如果不是您本人操作，请忽略此邮件，不会创建任何账户。'],
  }),
  alreadyKnown: ({ signInUrl, resetUrl }) => ({
    subject: '您已有 Tollgate 账户',
    paragraphs: ['有人（可能是您本人）用此邮箱申请注册。此邮箱已有账户，请直接登录。'],
    button: { label: '登录', url: signInUrl },
    notes: ['如果不是您本人操作，无需处理，账户没有任何变更。'],
    otherwise: { label: '忘记密码？在此重新设置', url: resetUrl },
  }),
  passwordReset: ({ url, lifeMs }) => ({
    subject: '重新设置 Tollgate 密码',
    paragraphs: ['为您的账户设置新密码。设置后，所有登录会话都会退出。'],
    button: { label: '设置新密码', url },
    notes: [validFor(lifeMs), '如果不是您本人操作，请忽略此邮件，密码不会改变。'],
  }),
  emailChange: ({ url, lifeMs }) => ({
    subject: '确认您在 Tollgate 的新邮箱',
    paragraphs: ['请确认此邮箱属于您。确认后，请用它登录。'],
    button: { label: '使用此邮箱', url },
    notes: [validFor(lifeMs), '如果不是您本人操作，请忽略此邮件，不会有任何变更。'],
  }),
  emailTaken: () => ({
    subject: '此邮箱已有 Tollgate 账户',
    paragraphs: [
      '有人（可能是您本人）想把此邮箱用于另一个 Tollgate 账户。此邮箱已有账户，因此没有任何变更。',
    ],
  }),
  emailChanged: ({ email }) => ({
    subject: ACCESS_CHANGED,
    paragraphs: ['您的账户邮箱已更改，此后不再向本邮箱发送邮件。'],
    facts: [{ label: '新邮箱', value: email }],
    notes: ['如果不是您本人操作，请立即联系客服。'],
  }),
  securityNotice: ({ url, ...about }) => ({
    subject: ACCESS_CHANGED,
    paragraphs: [wordsOf(about, NOTICES, SOMETHING), '如果不是您本人操作，请立即设置新密码。'],
    button: { label: '设置新密码', url },
  }),
  accountDeletion: ({ dueAt, url, resetUrl }) => ({
    subject: '您的 Tollgate 账户即将删除',
    paragraphs: [
      `您的账户将在 ${minuteOf(dueAt)} 之后删除，其 API 密钥已停用。`,
      '如需保留账户，请在此之前登录并取消删除。',
    ],
    button: { label: '登录并保留账户', url },
    otherwise: { label: '如果不是您本人操作，请立即设置新密码', url: resetUrl },
  }),
  accountKept: ({ url }) => ({
    subject: '您的 Tollgate 账户不会被删除',
    paragraphs: [
      '客服已取消您账户的删除。原有 API 密钥仍然停用。',
      '如果您仍希望删除账户，请登录后再次删除。',
    ],
    button: { label: '登录', url },
    notes: ['如果您没有要求客服取消删除，请提交工单告诉我们。'],
  }),
  lowBalance: ({ balance, threshold, url }) => ({
    subject: '您的 Tollgate 余额不足',
    paragraphs: [`当前余额为 ${balance} 额度，低于您设置的提醒值 ${threshold} 额度。`],
    button: { label: '充值', url },
    notes: ['充值使余额回到提醒值以上之后，才会再次提醒。'],
  }),
  topUp: ({ credits, paid, url }) => ({
    subject: '您的 Tollgate 充值已到账',
    paragraphs: ['已收到付款，额度已计入您的账户。'],
    facts: [
      { label: '额度', value: credits },
      { label: '支付金额', value: paid },
    ],
    button: { label: '查看收据', url },
  }),
  ticketAnswered: ({ subject, url }) => ({
    subject: 'Tollgate 客服已回复',
    paragraphs: [`您的工单“${subject}”有新进展。`],
    button: { label: '查看回复', url },
  }),
  webhookOff: ({ host, reason, url }) => ({
    subject: 'Tollgate webhook 已停用',
    paragraphs: [
      `您在 ${host} 的 webhook 端点已停用：${reason === 'gone' ? '端点返回 410 Gone。' : '长时间投递失败。'}`,
      '修复后请重新启用，并补发错过的事件。',
    ],
    button: { label: '打开 webhook 页面', url },
  }),
};
