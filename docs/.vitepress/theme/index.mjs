import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import './style.css';

/** Another application at the same address: with a target, the router of this site leaves the click to the browser. */
const consoleLink = () => h('a', { class: 'console-link', href: '/', target: '_self' }, 'Console');

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': consoleLink,
      'nav-screen-content-after': consoleLink,
    }),
};
