/**
 * Address of a worker's script by its path in the project, for `new Worker`. The executable carries
 * each worker under that same path, below its own root; see scripts/build.ts.
 */
export const workerUrl = (path: string): string =>
  Bun.isStandaloneExecutable ? `${import.meta.dir}/${path}` : new URL(`../${path}`, import.meta.url).href
