import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

/** @type {import('vite').UserConfig} */
export default {
  root,
  // The page has no address of its own below which it would find its files.
  base: '/',
  resolve: { alias: [{ find: /^#client\/(.*)\.js$/, replacement: `${root}../../libs/client/$1.ts` }] },
  plugins: [
    {
      name: 'no-flash',
      // Nothing is painted before the script has set the theme that the visitor has chosen.
      transformIndexHtml: {
        order: 'post',
        handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
      },
    },
  ],
  build: {
    outDir: '../../dist/portal',
    emptyOutDir: true,
    assetsDir: 'assets/portal',
    // The page of the API, and the page of its management port.
    rollupOptions: { input: ['index.html', 'operators.html'].map((name) => root + name) },
    // Nothing inline: the page's policy forbids it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    // These have light-dark().
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    reportCompressedSize: false,
  },
};
