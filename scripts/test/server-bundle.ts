import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bun, ROOT } from '../project.ts'

/** As deep in the project as `src`: the server finds workers and migrations relative to its own files. */
const FOLDER = join(ROOT, '.test-server')

/**
 * Bundles the server for the processes that tests start: from the bundle, a process starts with two thirds of the processor
 * time that it takes to load the sources. Worker threads still run from the sources. The bundler is a process of its own,
 * because this one remembers packages as missing that have been installed since it began.
 *
 * @returns the path of its entry, which takes the arguments of `src/main.ts`
 * @throws Error with the output of the bundler
 */
export async function bundleServer(): Promise<string> {
  rmSync(FOLDER, { recursive: true, force: true })
  // The reader process is found by its name.
  const entrypoints = ['src/main.ts', 'src/reader.ts'].map((path) => join(ROOT, path))
  const naming = [
    '--entry-naming=[name].ts',
    '--chunk-naming=[name]-[hash].js',
    '--asset-naming=[name]-[hash].[ext]',
  ]
  const options = ['--target=bun', '--splitting', '--sourcemap=linked', ...naming]
  const bundling = Bun.spawn(
    bun('build', ...entrypoints, ...options, `--outdir=${FOLDER}`, `--public-path=${FOLDER}/`),
    { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' },
  )
  const problems = await new Response(bundling.stderr).text()
  if ((await bundling.exited) !== 0) throw new Error(`The server could not be bundled\n${problems}`)
  return join(FOLDER, 'main.ts')
}
