import type { BunPlugin } from 'bun'

/** Lets the server start its workers and its reader from the bundles in a folder instead of from their sources. */
export const bundledScripts = (folder: string): BunPlugin => ({
  name: 'bundled scripts',
  setup(build) {
    build.onLoad({ filter: /\/src\/worker-url\.ts$/ }, () => ({
      loader: 'ts',
      contents: `
        import { pathToFileURL } from 'bun'
        export const scriptPath = (path) => ${JSON.stringify(`${folder}/`)} + path.replace(/ts$/, 'js')
        export const workerUrl = (path) => pathToFileURL(scriptPath(path)).href`,
    }))
  },
})
