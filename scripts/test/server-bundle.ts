import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bun, ROOT } from '../project.ts'

const FOLDER = join(ROOT, '.test-server')

/**
 * Bundles the server, its workers and its reader for the processes that tests start: from the bundle, each starts with about
 * half of the processor time that it takes to load the sources, because its code is compiled. The bundler is a process of its
 * own, because this one remembers packages as missing that have been installed since it began.
 *
 * @returns variables for test processes: `TEST_SERVER_MAIN` is the path of the server's entry, which takes the arguments of
 *   `src/main.ts`; `TEST_SCRIPTS` is the folder of all entries, each under its path in the project
 * @throws Error with the output of the bundler
 */
export async function bundleServer(): Promise<Record<'TEST_SERVER_MAIN' | 'TEST_SCRIPTS', string>> {
  rmSync(FOLDER, { recursive: true, force: true })
  const bundling = Bun.spawn(bun('scripts/test/bundle-scripts.ts', FOLDER), {
    cwd: ROOT,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const problems = await new Response(bundling.stderr).text()
  if ((await bundling.exited) !== 0) throw new Error(`The server could not be bundled\n${problems}`)
  return { TEST_SERVER_MAIN: join(FOLDER, 'src/main.js'), TEST_SCRIPTS: FOLDER }
}
