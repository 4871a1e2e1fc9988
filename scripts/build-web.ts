import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import { build, type InlineConfig, type Plugin, type Rolldown } from 'vite'
import { generateMessages, ownMessages } from './messages.ts'
import { ROOT } from './project.ts'
import { fingerprintWeb, isWebStale, stampWeb, WEB_OUTPUT } from './web-stamp.ts'

/** Folder of the pages, `workers/` and `public/`. */
const SOURCE = join(ROOT, 'web')

interface WebBuildOptions {
  /** False for development: readable, with source maps and React's development checks. Default true. */
  minify?: boolean
  /** False without compressed variants, which take a third of the time: for tests. Default true. */
  isCompressed?: boolean
}

interface BundlePlan {
  pages: readonly string[]
  parts: Readonly<Record<string, readonly string[]>>
  /** Modules that replace packages in this bundle, by the packages' exact names. */
  aliases?: Readonly<Record<string, string>>
  /** True for one stylesheet, instead of one for each chunk. */
  hasOneStylesheet?: boolean
}

/** Preact under React's names: a sixth of the size, with the same components. */
const PREACT = {
  'react/jsx-runtime': 'preact/jsx-runtime',
  'react/jsx-dev-runtime': 'preact/jsx-runtime',
  'react-dom/client': join(SOURCE, 'preact-root.ts'),
  'react-dom': 'preact/compat',
  react: join(SOURCE, 'preact-react.ts'),
}

/** What a grid needs before it takes input, in one request after the first records. */
const GRID_INPUT = [
  'grid/interaction.ts',
  'features/records/menus/grid-commands.ts',
  'cells/link-picker.tsx',
  ...new Bun.Glob('cells/*-editor.tsx').scanSync(SOURCE),
].sort()

/**
 * One bundle per page. Pages in one bundle would share chunks, which helps visitors of both pages, but few
 * visit two. Each of a bundle's `parts` becomes one chunk with the modules that it needs.
 */
const BUNDLES: readonly BundlePlan[] = [
  {
    pages: ['index.html'],
    // The screens of a base and a table import mostly the same modules, so they form one chunk.
    parts: {
      app: ['main.tsx'],
      table: ['routes/base-screens.ts', 'features/views/kinds/table-screen.tsx'],
      // What the shell, and then a table, need after the first content (`preloadAfterContent`).
      shell: [
        'features/shell/menus.ts',
        'features/shell/new-build-bar.tsx',
        'features/shell/unfinished-jobs.ts',
        'features/presence/people-here.tsx',
        'features/presence/table-people.tsx',
        'features/notifications/bell.tsx',
      ],
      later: [
        ...GRID_INPUT,
        'features/views/manage/toolbar-menu.ts',
        'features/records/toolbar/bulk-bar.tsx',
        'features/records/toolbar/search-box.tsx',
        'features/views/fields/fields-menu.tsx',
        'features/views/filter/filter-menu.tsx',
        'features/views/sort/sort-menu.tsx',
        'attachments/file-list.tsx',
        'features/records/comments/comment-counts.ts',
        'features/records/menus/cell-menu.ts',
      ],
    },
  },
  {
    pages: ['public-share.html'],
    parts: {
      share: ['public-share.tsx'],
      view: ['features/shares/public/shared-view-screen.tsx'],
      later: GRID_INPUT,
    },
  },
  {
    pages: ['public-form.html'],
    aliases: PREACT,
    // Its styles are few, and each file would be another request before the first question of some forms.
    hasOneStylesheet: true,
    parts: {
      form: ['public-form.html'],
      // What follows the first paint of most forms.
      completion: [
        'features/forms/public/complete-form.tsx',
        'features/forms/answers/common-cells.ts',
        'features/forms/answers/cell-answer.tsx',
        'features/forms/after-submit.tsx',
        'cells/date-editor.tsx',
        'cells/long-text-editor.tsx',
        'cells/number-editor.tsx',
        'cells/plain-editor.tsx',
      ],
      // One request for everything that some forms need as well.
      more: [
        'features/forms/answers/form-cells.ts',
        'features/forms/answers/file-answer.tsx',
        'features/forms/answers/link-answer.tsx',
        'features/forms/survey-view.tsx',
        'cells/geo-data-editor.tsx',
        'cells/json-editor.tsx',
        'cells/link-picker.tsx',
        'cells/people-editor.tsx',
        'cells/select-editor.tsx',
        'cells/time-editor.tsx',
        'cells/year-editor.tsx',
      ],
    },
  },
]
const PAGES = BUNDLES.flatMap(({ pages }) => pages)

/** Supports browsers from 2024 on. */
const SCRIPT_TARGET = 'es2024'
const STYLE_TARGET = ['chrome120', 'firefox121', 'safari17.2']

/**
 * Bundles the web app with Vite: pages at the top level, all other files under `assets/` with a hash in their name (so
 * that they can be cached forever), a copy of `public/`, and `.gz` and `.br` variants of files that they make smaller.
 * @throws Error when a source does not compile, after printing the errors
 */
export async function buildWeb({ minify = true, isCompressed = true }: WebBuildOptions = {}): Promise<void> {
  const startedAt = performance.now()
  // Builds in a staging folder that is renamed at the end, so that servers never see a partial build and
  // concurrent builds do not mix.
  const staging = `${WEB_OUTPUT}.${process.pid}`
  mkdirSync(staging, { recursive: true })
  try {
    for (const { pages, parts, aliases, hasOneStylesheet } of BUNDLES) {
      const bundle = (write: boolean, output?: Rolldown.OutputOptions) =>
        build(viteConfig({ pages, aliases, hasOneStylesheet, staging, minify, write, output }))
      await bundle(true, minify ? groupByParts(parts, await bundle(false)) : undefined)
    }
    await nameBuild(staging)
    if (isCompressed) await compress(staging)
    rmSync(WEB_OUTPUT, { recursive: true, force: true })
    renameSync(staging, WEB_OUTPUT)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  await report(performance.now() - startedAt)
}

/** Rebuilds `dist/web` if its sources have changed. */
export async function buildWebIfStale(minify = true): Promise<void> {
  await generateMessages()
  const fingerprint = await fingerprintWeb(minify)
  if (!(await isWebStale(fingerprint))) return
  await buildWeb({ minify })
  await stampWeb(fingerprint)
}

interface Bundling extends Pick<BundlePlan, 'pages' | 'aliases' | 'hasOneStylesheet'> {
  staging: string
  minify: boolean
  /** False if only the chunk graph is needed. */
  write: boolean
  /** Chunking of modules; by default one chunk per set of entries. */
  output?: Rolldown.OutputOptions
}

const viteConfig = ({
  pages,
  aliases = {},
  hasOneStylesheet = false,
  staging,
  minify,
  write,
  output,
}: Bundling): InlineConfig => ({
  root: SOURCE,
  configFile: false,
  mode: minify ? 'production' : 'development',
  logLevel: 'error',
  // Absolute, so that pages under any path find their files.
  base: '/',
  plugins: [
    ownMessages(),
    retryStylesheets(),
    ...(minify ? [slimIcons()] : []),
    inlineEarlyScripts(),
    inlineIcon(),
  ],
  css: { modules: minify ? { generateScopedName: shortClassName } : {} },
  // By exact name: an alias in object form would also match deeper imports.
  resolve: {
    alias: Object.entries(aliases).map(([name, replacement]) => ({
      find: new RegExp(`^${RegExp.escape(name)}$`),
      replacement,
    })),
  },
  worker: { format: 'es', plugins: () => [ownMessages()] },
  build: {
    outDir: staging,
    write,
    // The folder also contains the other bundles' files.
    emptyOutDir: false,
    minify: minify && write ? 'oxc' : false,
    cssMinify: minify && write,
    sourcemap: !minify,
    target: SCRIPT_TARGET,
    cssTarget: STYLE_TARGET,
    cssCodeSplit: !hasOneStylesheet,
    // Never inlined: the content security policy forbids `data:` scripts, and separate files are cached.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: pages.map((page) => join(SOURCE, page)), ...(output && { output }) },
  },
})

type Bundle = Awaited<ReturnType<typeof build>>

/**
 * Groups the modules of each part, without those of earlier parts, into one chunk, based on a bundle with one chunk per
 * set of entries. Other modules keep their chunks. Parts import only earlier parts, which prevents cyclic chunks.
 */
function groupByParts(
  parts: Readonly<Record<string, readonly string[]>>,
  bundle: Bundle,
): Rolldown.OutputOptions {
  if (!('output' in bundle)) throw new Error('Vite gave several bundles')
  const chunks = bundle.output.filter((file) => file.type === 'chunk')
  const partOf = new Map<string, string>()
  for (const [part, modules] of Object.entries(parts)) {
    const paths = modules.map((module) => join(SOURCE, module))
    for (const { isEntry, facadeModuleId, moduleIds } of chunksNeeded(chunks, modules)) {
      // A page's entry script stays separate unless the part lists the page: in a shared chunk it would run on other
      // pages too.
      if (isEntry && !paths.includes(facadeModuleId ?? '')) continue
      for (const id of moduleIds) if (!partOf.has(id)) partOf.set(id, part)
    }
  }
  return {
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: (id) => partOf.get(id) ?? null }],
    },
  }
}

/** The chunks with these modules (paths in `web`) and all their static imports. */
function chunksNeeded(
  chunks: readonly Rolldown.OutputChunk[],
  modules: readonly string[],
): Set<Rolldown.OutputChunk> {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const needed = new Set(
    modules.map((module) => {
      const path = join(SOURCE, module)
      // Prefers the chunk that a dynamic import of the module loads.
      const found =
        chunks.find(({ facadeModuleId }) => facadeModuleId === path) ??
        chunks.find(({ moduleIds }) => moduleIds.includes(path))
      if (!found) throw new Error(`${module} is in no chunk`)
      return found
    }),
  )
  // Iterating over a set also visits what is added meanwhile.
  for (const { imports } of needed) {
    for (const name of imports) {
      const imported = byName.get(name)
      if (imported) needed.add(imported)
    }
  }
  return needed
}

const STYLESHEETS = [...new Bun.Glob('**/*.module.css').scanSync(SOURCE)].sort()
/** `a0`, so that the numbers of stylesheets have two digits in base 36. */
const FIRST_NUMBER = 360

/**
 * A class of a stylesheet as the numbers of both, e.g. `_b41`: the names and hashes of all classes are 2.5 KB of a
 * table, gzipped. The underscore keeps away from the rules of advertisement blockers, such as `.ad1`.
 */
function shortClassName(name: string, path: string, css: string): string {
  const names = new Set([...css.matchAll(/(?:\.|@keyframes\s+)([a-z_][\w-]*)/gi)].map(([, found]) => found))
  const [stylesheet, position] = [STYLESHEETS.indexOf(relative(SOURCE, path)), [...names].indexOf(name)]
  if (stylesheet < 0 || position < 0) throw new Error(`${path} has no class ${name}`)
  return `_${(FIRST_NUMBER + stylesheet).toString(36)}${position.toString(36)}`
}

/**
 * Removes from Lucide's icons the keys of their nodes, which only React's development build checks, and their former
 * names: 3 KB of a table, gzipped.
 */
const slimIcons = (): Plugin => ({
  name: 'slim-icons',
  transform: {
    filter: { id: /lucide-react\/dist\/esm\/icons\// },
    handler: (code) => ({
      code: code
        .replaceAll(/, key: "[a-z0-9]+"/g, '')
        .replace(/,\s+aliases: \[[^\]]*\]/, '')
        .replace('__iconData.node;\n', ''),
      map: null,
    }),
  },
})

/** What takes a stylesheet that failed for loaded, in Vite's loader of parts: the next try would show the part without. */
const STYLESHEET_FIXES = [
  ['if (href in seen)', 'if (seen[href])'],
  ['rej(', 'link.remove(), rej('],
] as const

/** Lets Vite's loader request stylesheets that failed again. */
function retryStylesheets(): Plugin {
  return {
    name: 'retry-stylesheets',
    transform: {
      filter: { id: /vite\/preload-helper/ },
      handler(code) {
        let fixed = code
        for (const [before, after] of STYLESHEET_FIXES) {
          if (fixed.split(before).length !== 2) throw new Error(`Vite's loader has no “${before}”`)
          fixed = fixed.replace(before, after)
        }
        return { code: fixed, map: null }
      },
    },
  }
}

/** Inlines the icon into each page, which saves a request. */
function inlineIcon(): Plugin {
  return {
    name: 'inline-icon',
    async transformIndexHtml(html) {
      const icon = await Bun.file(join(SOURCE, 'public/favicon.svg')).text()
      return html.replace('/favicon.svg', `data:image/svg+xml,${encodeURIComponent(icon.trim())}`)
    },
  }
}

/**
 * Inlines `entry-failure.ts` into the pages except that of forms, which has no room for it, and `early.ts` into the app's,
 * with the names of the files that a table needs.
 */
function inlineEarlyScripts(): Plugin {
  return {
    name: 'inline-early-scripts',
    transformIndexHtml: {
      order: 'post',
      async handler(html, { filename, bundle }) {
        if (!bundle || basename(filename) === 'public-form.html') return html
        const scripts = [await compileInline('entry-failure.ts', await entryTexts())]
        if (basename(filename) === 'index.html') {
          const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
          const needed = [...chunksNeeded(chunks, BUNDLES[0]?.parts.table ?? [])]
          const styles = new Set(needed.flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]))
          const urls = (names: Iterable<string>) =>
            JSON.stringify([...names].map((name) => `/${name}`).filter((url) => !html.includes(url)))
          const addresses = {
            TABLE_SCRIPTS: urls(needed.map(({ fileName }) => fileName)),
            TABLE_STYLES: urls(styles),
          }
          scripts.push(await compileInline('early.ts', addresses))
        }
        const elements = scripts.map((code) => `<script>${code}</script>\n    `).join('')
        // Before the stylesheets, because an inline script waits for preceding ones.
        return html.replace('<script type="module"', (first) => elements + first)
      },
    },
  }
}

/** The code of a script of `web`, with constants as JavaScript expressions. */
async function compileInline(name: string, define: Record<string, string>): Promise<string> {
  const entrypoints = [join(SOURCE, name)]
  const { outputs } = await Bun.build({
    entrypoints,
    target: 'browser',
    format: 'iife',
    minify: true,
    define,
  })
  const code = (await outputs[0]?.text())?.trim()
  if (!code) throw new Error(`${name} gave no script`)
  return code
}

/** The texts of `entry-failure.ts`, which cannot load a catalogue. */
async function entryTexts(): Promise<Record<string, string>> {
  const messages = await Bun.file(join(SOURCE, 'messages', 'en.json')).json()
  return {
    CONNECTING: JSON.stringify(messages.navigation_connecting),
    UNREACHABLE: JSON.stringify(messages.app_server_reach_failed),
    LOAD_FAILED: JSON.stringify(messages.navigation_part_of_the_app_load_failed),
    TRY_AGAIN: JSON.stringify(messages.common_try_again),
  }
}

/**
 * Derives an id from the build's content and writes it to each page and to `builds/latest.json`, from which
 * open pages detect a newer build (spec §2).
 */
async function nameBuild(folder: string): Promise<void> {
  const pages = PAGES.map((name) => join(folder, name))
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

/** Writes compressed variants of all files. Copies the Brotli ones, which take long, of unchanged assets from the last build. */
async function compress(folder: string): Promise<void> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  await Promise.all(
    paths.map(async (path) => {
      const file = join(folder, path)
      if (!statSync(file).isFile()) return
      const bytes = await Bun.file(file).bytes()
      const last = Bun.file(`${join(WEB_OUTPUT, path)}.br`)
      const isUnchanged = path.startsWith('assets/') && (await last.exists())
      const variants = {
        // The highest level of libdeflate, whose files are 3 to 4 % smaller than zlib's.
        '.gz': Bun.gzipSync(bytes, { library: 'libdeflate', level: 12 }),
        '.br': isUnchanged ? await last.bytes() : await promisify(brotliCompress)(bytes),
      }
      for (const [extension, packed] of Object.entries(variants)) {
        if (packed.length < bytes.length) await Bun.write(file + extension, packed)
      }
    }),
  )
}

/** Prints the initial load of each page, and the total size. */
async function report(durationMs: number): Promise<void> {
  const sizeKb = (path: string) => {
    const zipped = Bun.file(`${path}.gz`)
    return (zipped.size || Bun.file(path).size) / 1024
  }
  for (const page of PAGES.map((name) => join(WEB_OUTPUT, name))) {
    const html = await Bun.file(page).text()
    const assets = new Set(
      [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, url]) => `${WEB_OUTPUT}${url}`),
    )
    const firstLoadKb = [page, ...assets].reduce((sum, path) => sum + sizeKb(path), 0)
    console.log(`${basename(page)}: first load ${firstLoadKb.toFixed(0)} KB gzipped, ${assets.size} assets`)
  }
  const files = readdirSync(join(WEB_OUTPUT, 'assets')).filter((name) => !/\.(gz|br)$/.test(name))
  const totalKb = files.reduce((sum, name) => sum + sizeKb(join(WEB_OUTPUT, 'assets', name)), 0)
  console.log(
    `${WEB_OUTPUT}: ${files.length} assets, ${totalKb.toFixed(0)} KB gzipped, in ${durationMs.toFixed(0)} ms`,
  )
}

if (import.meta.main) await buildWebIfStale(!process.argv.includes('--development'))
