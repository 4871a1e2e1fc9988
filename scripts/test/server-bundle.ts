import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bun, ROOT } from '../project.ts'

const FOLDER = join(ROOT, '.test-server')

/**
 * Bundles the server for the processes that tests start: from the bundle, a process starts with half of the processor time
 * that it takes to load the sources, because its code is compiled. Worker threads and reader processes still run from the
 * sources. The bundler is a process of its own, because this one remembers packages as missing that have been installed since
 * it began.
 *
 * @returns the path of its entry, which takes the arguments of `src/main.ts`
 * @throws Error with the output of the bundler
 */
export async function bundleServer(): Promise<string> {
  rmSync(FOLDER, { recursive: true, force: true })
  const naming = ['--entry-naming=[name].js', '--asset-naming=[name]-[hash].[ext]']
  // Only CommonJS can be compiled ahead. Without a source map, whose reading would take as long again.
  const options = ['--target=bun', '--format=cjs', '--bytecode', ...naming]
  const bundling = Bun.spawn(
    bun('build', join(ROOT, 'src/main.ts'), ...options, `--outdir=${FOLDER}`, `--public-path=${FOLDER}/`),
    { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' },
  )
  const problems = await new Response(bundling.stderr).text()
  if ((await bundling.exited) !== 0) throw new Error(`The server could not be bundled\n${problems}`)
  return join(FOLDER, 'main.js')
}
