import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type InlineConfig, type Rolldown } from 'vite'
import { generateMessages, ownMessages } from './messages.ts'
import { ROOT } from './project.ts'
import { fingerprintWeb, isWebStale, stampWeb, WEB_OUTPUT } from './web-stamp.ts'

export interface WebBuildOptions {
  /** Folder of the pages, `workers/` and `public/`; by default `web`. */
  source?: string
  /** Folder that the result replaces; by default `dist/web`. */
  outdir?: string
  /** False for development: readable, with source maps and React's development checks. Default true. */
  minify?: boolean
}

/** Separate pages with shared chunks. */
const PAGES = ['index.html', 'public-form.html', 'public-share.html']

/**
 * Entry modules per initial page. Modules needed by the same set of entries form one chunk: a table loads with a dozen
 * requests instead of two hundred.
 */
const APP = ['main.tsx']
const BASE = [...APP, 'routes/base-screens.ts']
const STARTS: Record<string, readonly string[]> = {
  app: APP,
  base: BASE,
  table: [...BASE, 'features/views/kinds/table-screen.tsx'],
  form: [
    'public-form.tsx',
    'features/forms/public/start.tsx',
    'features/forms/answers/form-cells.ts',
    'features/forms/answers/file-answer.tsx',
    'features/forms/answers/link-answer.tsx',
  ],
}

/** Browsers of 2024 and newer. */
const SCRIPT_TARGET = 'es2024'
const STYLE_TARGET = ['chrome120', 'firefox121', 'safari17.2']

/**
 * Bundles the web app with Vite: pages at the top, everything else under `assets/` with its hash in the name (so that it
 * may be cached for ever), `public/` copied as it is, and a `.gz` beside each file that gets smaller by it.
 * @throws Error when a source does not compile, after printing the errors
 */
export async function buildWeb(options: WebBuildOptions = {}): Promise<void> {
  const { source = join(ROOT, 'web'), outdir = WEB_OUTPUT, minify = true } = options
  const pages = PAGES.map((page) => join(source, page)).filter((page) => existsSync(page))
  if (pages.length === 0) throw new Error(`${source} has no index.html`)
  const startedAt = performance.now()
  // Built beside the target and renamed in the end: a server never sees half a build, and two builds never mix.
  const staging = `${outdir}.${process.pid}`
  mkdirSync(staging, { recursive: true })
  try {
    const bundle = (write: boolean, output?: Rolldown.OutputOptions) =>
      build(viteConfig({ source, pages, staging, minify, write, output }))
    await bundle(true, minify ? groupByStarts(source, await bundle(false)) : undefined)
    await nameBuild(staging)
    await compress(staging)
    rmSync(outdir, { recursive: true, force: true })
    renameSync(staging, outdir)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  await report(outdir, performance.now() - startedAt)
}

/** Rebuilds `dist/web` if its sources have changed. */
export async function buildWebIfStale(minify = true): Promise<void> {
  await generateMessages()
  const fingerprint = await fingerprintWeb(minify)
  if (!(await isWebStale(fingerprint))) return
  await buildWeb({ minify })
  await stampWeb(fingerprint)
}

interface Bundling {
  source: string
  pages: string[]
  staging: string
  minify: boolean
  /** Off where only the chunks are asked for. */
  write: boolean
  /** How modules are put together into chunks; by default one for each set of entries. */
  output?: Rolldown.OutputOptions
}

const viteConfig = ({ source, pages, staging, minify, write, output }: Bundling): InlineConfig => ({
  root: source,
  configFile: false,
  mode: minify ? 'production' : 'development',
  logLevel: 'error',
  // Absolute, so that a page under any path finds its files.
  base: '/',
  plugins: [ownMessages()],
  worker: { format: 'es', plugins: () => [ownMessages()] },
  build: {
    outDir: staging,
    write,
    emptyOutDir: true,
    minify: minify && write ? 'oxc' : false,
    cssMinify: minify && write,
    sourcemap: !minify,
    target: SCRIPT_TARGET,
    cssTarget: STYLE_TARGET,
    // Files of their own: the page's security policy allows no `data:` scripts, and browsers cache them by name.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: pages, ...(output && { output }) },
  },
})

/**
 * One chunk for the modules that belong to the same `STARTS`, judged by a bundle in which each set of entries has a
 * chunk of its own. What is loaded later stays as it is. A group imports only groups of the same starts and more, so
 * that chunks form no cycle.
 */
function groupByStarts(source: string, bundle: Awaited<ReturnType<typeof build>>): Rolldown.OutputOptions {
  if (!('output' in bundle)) throw new Error('Vite gave several bundles')
  const chunks = bundle.output.filter((file) => file.type === 'chunk')
  const chunkOf = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const groups = new Map<string, string>()
  for (const [start, modules] of Object.entries(STARTS)) {
    const loaded = new Set(
      modules.map((module) => {
        const first = chunks.find(({ moduleIds }) => moduleIds.includes(join(source, module)))
        if (!first) throw new Error(`${start} begins with ${module}, which is in no chunk`)
        return first
      }),
    )
    // A set may grow while it is walked: what is added is walked, too.
    for (const { isEntry, imports, moduleIds } of loaded) {
      for (const name of imports) {
        const imported = chunkOf.get(name)
        if (imported) loaded.add(imported)
      }
      // The scripts of pages wait for what they load: a chunk with one of them would wait for itself.
      if (isEntry) continue
      for (const id of moduleIds) groups.set(id, [groups.get(id), start].filter(Boolean).join('-'))
    }
  }
  return {
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: (id) => groups.get(id) ?? null }],
    },
  }
}

/**
 * Gives the build an id, the same for the same result: in each page, which thereby knows of which build it is, and in
 * `builds/latest.json`, which an open page asks for the build of the day (spec §2).
 */
async function nameBuild(folder: string): Promise<void> {
  const pages = PAGES.map((name) => join(folder, name)).filter((path) => existsSync(path))
  const hash = new Bun.CryptoHasher('sha256')
  for (const page of pages) hash.update(await Bun.file(page).bytes())
  for (const name of readdirSync(join(folder, 'assets')).sort()) hash.update(`\n${name}`)
  const id = hash.digest('hex').slice(0, 16)
  for (const page of pages) {
    const html = await Bun.file(page).text()
    await Bun.write(page, html.replace('</head>', `<meta name="build" content="${id}" /></head>`))
  }
  await Bun.write(join(folder, 'builds', 'latest.json'), JSON.stringify({ id }))
}

async function compress(folder: string): Promise<void> {
  for (const path of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue
    const file = join(path.parentPath, path.name)
    const bytes = await Bun.file(file).bytes()
    const zipped = Bun.gzipSync(bytes, { level: 9 })
    if (zipped.length < bytes.length) await Bun.write(`${file}.gz`, zipped)
  }
}

/** Prints the initial load of each page, and the total size. */
async function report(outdir: string, durationMs: number): Promise<void> {
  const sizeKb = (path: string) => {
    const zipped = Bun.file(`${path}.gz`)
    return (zipped.size || Bun.file(path).size) / 1024
  }
  for (const page of PAGES.map((name) => join(outdir, name)).filter((path) => existsSync(path))) {
    const html = await Bun.file(page).text()
    const assets = new Set(
      [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, url]) => `${outdir}${url}`),
    )
    const firstLoadKb = [page, ...assets].reduce((sum, path) => sum + sizeKb(path), 0)
    console.log(`${basename(page)}: first load ${firstLoadKb.toFixed(0)} KB gzipped, ${assets.size} assets`)
  }
  const files = readdirSync(join(outdir, 'assets')).filter((name) => !name.endsWith('.gz'))
  const totalKb = files.reduce((sum, name) => sum + sizeKb(join(outdir, 'assets', name)), 0)
  console.log(
    `${outdir}: ${files.length} assets, ${totalKb.toFixed(0)} KB gzipped, in ${durationMs.toFixed(0)} ms`,
  )
}

if (import.meta.main) await buildWebIfStale(!process.argv.includes('--development'))
