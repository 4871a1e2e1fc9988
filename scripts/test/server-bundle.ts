import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../project.ts'

/** As deep in the project as `src`: the server finds workers and migrations relative to its own files. */
const FOLDER = join(ROOT, '.test-server')

/**
 * Bundles the server for the processes that tests start: from the bundle, a process starts with two thirds of the processor
 * time that it takes to load the sources. Worker threads still run from the sources.
 *
 * @returns the path of its entry, which takes the arguments of `src/main.ts`
 * @throws Error with the first problem
 */
export async function bundleServer(): Promise<string> {
  rmSync(FOLDER, { recursive: true, force: true })
  await Bun.build({
    // The reader process is found by its name.
    entrypoints: [join(ROOT, 'src/main.ts'), join(ROOT, 'src/reader.ts')],
    target: 'bun',
    splitting: true,
    sourcemap: 'linked',
    outdir: FOLDER,
    naming: { entry: '[name].ts', chunk: '[name]-[hash].js', asset: '[name]-[hash].[ext]' },
    publicPath: `${FOLDER}/`,
  })
  return join(FOLDER, 'main.ts')
}
