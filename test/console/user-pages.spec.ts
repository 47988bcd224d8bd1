import { describePages } from './support/pages.js';

describePages({
  area: 'user',
  as: [],
  credits: '12.345678901',
  pages: [{ name: 'overview', path: '/overview' }],
});
