import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BunPlugin } from 'bun'

/*
 * Bun rewrites these for browsers of 2020 by the *language* of an element (`:lang(ar)`), which is not what they mean: a
 * page that is set right to left in another language would keep them left to right, and inside `::before` they are
 * lost. Under a name that it does not know they pass, and get their own back in what it has written.
 */
const DIRECTED = /(?<![\w-])(inset-inline(?:-start|-end)?|border-(?:start|end)-(?:start|end)-radius)(?=\s*:)/g
const KEPT = '-kept-'

/** Takes `inset-inline` and its kin through the bundler as they are written. */
export const keepDirections: BunPlugin = {
  name: 'keep-directions',
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace(DIRECTED, `${KEPT}$1`),
      loader: 'css',
    }))
  },
}

/** Gives them their names back in the sheets of a folder. */
export async function restoreDirections(folder: string): Promise<void> {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.css'))) {
    const sheet = join(folder, name)
    await Bun.write(sheet, (await Bun.file(sheet).text()).replaceAll(KEPT, ''))
  }
}
