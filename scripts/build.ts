import { mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareSources } from './install.ts'
import { ROOT } from './project.ts'

/*
 * `bun run build` creates `dist/sheaf`, one executable with the server, its workers, the built web app and
 * the migrations.
 *
 * Files: a generated module imports each with `{ type: 'file' }`, which returns a path that `Bun.file` and
 * `node:fs` can read, and passes the paths to `setEmbedded` of src/embedded.ts before anything else runs.
 *
 * Workers: the executable finds a worker only if it is an entrypoint of the build, by its path from the
 * build's root. The main bundle is at that root, so `new URL('./x.ts', import.meta.url)` resolves differently
 * there than in the sources. Workers are therefore started by their path in the project:
 *
 *   const url = Bun.isStandaloneExecutable
 *     ? `${import.meta.dir}/src/worker.ts`
 *     : new URL('./worker.ts', import.meta.url).href
 *   new Worker(url)
 *
 * Each worker has its own copy of src/embedded.ts and therefore its own generated entry.
 */

const GENERATED = join(ROOT, 'dist', 'compile')
/** Scripts started with `new Worker`. */
const WORKERS = ['src/worker.ts', '{src,modules}/**/*-worker.ts']

const { values: options } = parseArgs({
  options: {
    outfile: { type: 'string', default: join(ROOT, 'dist', 'sheaf') },
    /** Target platform, e.g. `bun-linux-arm64`; by default this one. */
    target: { type: 'string' },
  },
})

await prepareSources()
// Imported dynamically: it needs packages that a fresh clone does not have.
const { buildWebIfStale } = await import('./build-web.ts')
await buildWebIfStale()
rmSync(GENERATED, { recursive: true, force: true })
await Bun.write(join(GENERATED, 'embedded.gen.ts'), embeddedModule())
const entrypoints = [await writeEntry('sheaf.ts', 'src/main.ts')]
for (const pattern of WORKERS) {
  for (const worker of new Bun.Glob(pattern).scanSync(ROOT))
    entrypoints.push(await writeEntry(worker, worker))
}
mkdirSync(dirname(options.outfile), { recursive: true })
const result = await Bun.build({
  entrypoints,
  root: GENERATED,
  target: 'bun',
  minify: true,
  // Compiled ahead, the server starts in two thirds of the time.
  format: 'esm',
  bytecode: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  compile: {
    outfile: options.outfile,
    ...(options.target ? { target: options.target as Bun.Build.CompileTarget } : {}),
  },
  throw: false,
})
for (const log of result.logs) console.error(log)
if (!result.success) process.exit(1)
console.log(`${options.outfile}: ${(Bun.file(options.outfile).size / 1024 / 1024).toFixed(0)} MB`)

/** Writes an entry that registers the embedded files and then runs `source`; returns its path. */
async function writeEntry(name: string, source: string): Promise<string> {
  const path = join(GENERATED, name)
  const from = (file: string) => JSON.stringify(`./${relative(dirname(path), file)}`)
  await Bun.write(
    path,
    `import ${from(join(GENERATED, 'embedded.gen.ts'))}\nimport ${from(join(ROOT, source))}\n`,
  )
  return path
}

/** The module that embeds the files, each under the path that src/embedded.ts documents. */
function embeddedModule(): string {
  const imports: string[] = []
  const table = (folder: string, files: string) => {
    const paths = [...new Bun.Glob(files).scanSync(join(ROOT, folder))].sort()
    const rows = paths.map((path) => {
      imports.push(
        `import file${imports.length} from ${JSON.stringify(join(ROOT, folder, path))} with { type: 'file' }`,
      )
      return `    ${JSON.stringify(`${basename(folder)}/${path}`)}: file${imports.length - 1},`
    })
    return `{\n${rows.join('\n')}\n  }`
  }
  const call = `setEmbedded({\n  web: ${table('dist/web', '**/*')},\n  migrations: ${table('migrations', '**/*.sql')},\n})`
  return `import { setEmbedded } from ${JSON.stringify(join(ROOT, 'src/embedded.ts'))}\n${imports.join('\n')}\n${call}\n`
}
