import { join } from 'node:path'
import { bundledScripts } from '../../tests/support/bundled-scripts.ts'
import { ROOT } from '../project.ts'

/** Bundles the server, its workers and its reader into a folder, each under its path in the project. */
const [, , folder = ''] = process.argv
const workers = [...new Bun.Glob('{src,modules}/**/*-worker.ts').scanSync(ROOT)]
for (const path of ['src/main.ts', 'src/reader.ts', 'src/worker.ts', ...workers]) {
  await Bun.build({
    entrypoints: [join(ROOT, path)],
    root: ROOT,
    outdir: folder,
    publicPath: `${folder}/`,
    target: 'bun',
    // Only CommonJS can be compiled ahead. Without a source map, whose reading would take as long again.
    format: 'cjs',
    bytecode: true,
    naming: { entry: '[dir]/[name].js', asset: '[name]-[hash].[ext]' },
    plugins: [bundledScripts(folder)],
  })
}
