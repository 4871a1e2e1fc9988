/**
 * URL of a worker's script for `new Worker`, by project path. The executable has each worker under the same path below
 * its root; see scripts/build.ts.
 */
export const workerUrl = (path: string): string =>
  Bun.isStandaloneExecutable ? `${import.meta.dir}/${path}` : new URL(`../${path}`, import.meta.url).href
