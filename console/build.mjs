// Builds the page into `dist`, compressed, with the list from which the server takes it. With `--check`, builds
// elsewhere and says whether `dist` is what these sources build.
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { build } from 'vite';

const here = import.meta.dirname;
const dist = join(here, 'dist');

/** The files below a folder, by their path in it. */
function files(folder) {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = all.filter((one) => one.isFile()).map((one) => relative(folder, join(one.parentPath, one.name)));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(folder, path))]));
}

/** The list that the server includes: path, type, compressed bytes. */
function list(built) {
  const types = {
    css: 'text/css; charset=utf-8',
    html: 'text/html; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    svg: 'image/svg+xml',
  };
  const lines = [...built.keys()].map((path) => {
    const type = types[path.split('.').pop()];
    if (!type) throw new Error(`${path}: build.mjs knows no type for it`);
    return `    ("${path}", "${type}", include_bytes!("${path}.gz")),\n`;
  });
  return `[\n${lines.join('')}]\n`;
}

const folder = mkdtempSync(join(tmpdir(), 'turnstile-console-'));
try {
  await build({ root: here, logLevel: 'warn', build: { outDir: folder, emptyOutDir: true } });
  const built = files(folder);
  if (process.argv.includes('--check')) {
    const kept = files(dist);
    const differs = [...built].filter(([path, bytes]) => {
      const one = kept.get(`${path}.gz`);
      return !one || !gunzipSync(one).equals(bytes);
    });
    const paths = differs.map(([path]) => path);
    if (kept.get('files.in')?.toString() !== list(built)) paths.push('files.in');
    if (kept.size !== built.size + 1) paths.push('files that are built no longer');
    if (paths.length > 0) {
      console.error(`console/dist is not what the sources build: ${paths.join(', ')}; run npm run build`);
      process.exitCode = 1;
    }
  } else {
    rmSync(dist, { recursive: true, force: true });
    let total = 0;
    for (const [path, bytes] of built) {
      const packed = gzipSync(bytes, { level: 9 });
      total += packed.length;
      mkdirSync(join(dist, path, '..'), { recursive: true });
      writeFileSync(join(dist, `${path}.gz`), packed);
    }
    writeFileSync(join(dist, 'files.in'), list(built));
    console.log(`${built.size} files, ${(total / 1024).toFixed(1)} KiB compressed`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
