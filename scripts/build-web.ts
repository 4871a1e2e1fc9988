import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { keepDirections, restoreDirections } from './keep-directions.ts'
import { generateMessages, ownMessages } from './messages.ts'
import { ROOT } from './project.ts'
import { fingerprintWeb, isWebStale, stampWeb, WEB_OUTPUT } from './web-stamp.ts'

export interface WebBuildOptions {
  /** Folder of the pages, `workers/` and `public/`; by default `web`. */
  source?: string
  /** Folder that the result replaces; by default `dist/web`. */
  outdir?: string
  /** Off for development: readable, with source maps and React's own checks. On by default. */
  minify?: boolean
}

/** Each is a page of its own; chunks are shared. */
const PAGES = ['index.html', 'public-form.html', 'public-share.html']
const HASHED = 'assets/[name]-[hash].[ext]'

/**
 * Bundles the web app: pages at the top, everything else under `assets/` with its hash in the name (so that it may be
 * cached for ever), `public/` copied as it is, and a `.gz` beside each file that gets smaller by it.
 *
 * Bun does not follow workers. They are built first, and where the sources say
 * `new Worker(new URL('../workers/csv.ts', import.meta.url), { type: 'module' })`, which also works unbundled, the
 * bundle gets the worker's public URL.
 * @throws Error when a source does not compile; what is wrong with it has been printed
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
    if (existsSync(join(source, 'public'))) cpSync(join(source, 'public'), staging, { recursive: true })
    const workers = await buildWorkers(join(source, 'workers'), staging, minify)
    await bundle({
      entrypoints: pages,
      root: source,
      outdir: staging,
      minify,
      splitting: true,
      naming: { entry: '[dir]/[name].[ext]', chunk: HASHED, asset: HASHED },
      external: ['/*'], // In <link href="/favicon.svg"> it is a file of public/.
      plugins: [workerUrls(source, workers), ownMessages, keepDirections],
    })
    await dropUnusedStyles(staging)
    await restoreDirections(join(staging, 'assets'))
    await nameBuild(staging)
    await compress(staging)
    rmSync(outdir, { recursive: true, force: true })
    renameSync(staging, outdir)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  await report(outdir, performance.now() - startedAt)
}

/** Brings `dist/web` up to date with its sources, which takes no time when it is. */
export async function buildWebIfStale(minify = true): Promise<void> {
  await generateMessages()
  const fingerprint = await fingerprintWeb(minify)
  if (!(await isWebStale(fingerprint))) return
  await buildWeb({ minify })
  await stampWeb(fingerprint)
}

/** Builds each `workers/*.ts` by itself and gives its public URL by its source path. */
async function buildWorkers(folder: string, outdir: string, minify: boolean): Promise<Map<string, string>> {
  const urls = new Map<string, string>()
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.ts')) : []
  for (const name of names) {
    const entrypoint = join(folder, name)
    const { outputs } = await bundle({ entrypoints: [entrypoint], outdir, minify, naming: { entry: HASHED } })
    const script = outputs.find(({ kind }) => kind === 'entry-point')
    if (script) urls.set(entrypoint, `/assets/${basename(script.path)}`)
  }
  return urls
}

/** Puts the built workers' URLs in place of `new URL('….ts', import.meta.url)`. */
function workerUrls(source: string, workers: Map<string, string>): BunPlugin {
  const pattern = /new URL\(\s*(['"])(\.[^'"]*\/workers\/[^'"]+)\1,\s*import\.meta\.url,?\s*\)/g
  return {
    name: 'worker-urls',
    setup(build) {
      build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
        if (!path.startsWith(`${source}/`)) return undefined
        const contents = (await Bun.file(path).text()).replace(pattern, (_, _quote, file: string) => {
          const url = workers.get(resolve(dirname(path), file))
          if (url === undefined) throw new Error(`${path}: there is no worker ${file}`)
          return JSON.stringify(url)
        })
        return { contents, loader: path.endsWith('.tsx') ? 'tsx' : 'ts' }
      })
    },
  }
}

async function bundle(config: Bun.BuildConfig & { minify: boolean }): Promise<Bun.BuildOutput> {
  const mode = JSON.stringify(config.minify ? 'production' : 'development')
  const result = await Bun.build({
    ...config,
    target: 'browser',
    publicPath: '/', // Absolute, so that a page under any path finds its files.
    sourcemap: config.minify ? 'none' : 'linked',
    define: { 'process.env.NODE_ENV': mode },
    throw: false,
  })
  for (const log of result.logs) console.error(log)
  if (!result.success) throw new Error(`Could not bundle ${config.entrypoints.join(', ')}`)
  return result
}

/**
 * Bun puts the styles of all chunks into the page's own sheet, and writes one beside each chunk as well
 * that nothing loads.
 */
async function dropUnusedStyles(folder: string): Promise<void> {
  const pages = PAGES.map((name) => join(folder, name)).filter((path) => existsSync(path))
  const html = (await Promise.all(pages.map((path) => Bun.file(path).text()))).join('')
  for (const name of readdirSync(join(folder, 'assets'))) {
    if (name.endsWith('.css') && !html.includes(`/assets/${name}`)) rmSync(join(folder, 'assets', name))
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

/** Prints what a browser fetches before each page shows, and the whole. */
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
