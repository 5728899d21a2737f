import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// `npm run dev` shows the sources against a server that runs beside it: `turnstile dev`.
const server = process.env.TURNSTILE_HTTP ?? 'http://127.0.0.1:8470';
const paths = ['/v1', '/metrics', '/openapi.json', '/readyz', '/version', '/docs'];
const origin = { target: server, changeOrigin: true, ws: true, headers: { origin: server } };

export default defineConfig({
  base: '/console/',
  plugins: [svelte()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 300,
  },
  server: { proxy: Object.fromEntries(paths.map((path) => [path, origin])) },
});
